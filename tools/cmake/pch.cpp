// The one source file whose precompiled header all compiler libraries reuse.
