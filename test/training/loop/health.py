def check(t,f,p): pass
