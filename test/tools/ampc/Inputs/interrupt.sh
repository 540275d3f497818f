# Compiles $1/m.onnx and ends the compiler once its linker has started. The
# linker writes its process id to $1/started.
ampc "$1/m.onnx" -o "$1/out/program" &
pid=$!
tries=0
while [ ! -e "$1/started" ] && [ $tries -lt 300 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
kill -TERM $pid
wait $pid
echo "exit code $?"
kill "$(cat "$1/started")"
