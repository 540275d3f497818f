"""Compare the classes of `ampc ops --json` with a table: compare_classes.py OPS.json TABLE.tsv"""

import json
import pathlib
import sys

rows = json.loads(pathlib.Path(sys.argv[1]).read_text())
lines = pathlib.Path(sys.argv[2]).read_text().splitlines()[1:]
table = {name: cls for name, cls, *_ in (line.split("\t") for line in lines)}
both = [(row["op"], row["class"]) for row in rows if row["class"] and row["op"] in table]
different = [(name, cls) for name, cls in both if cls != table[name]]
for name, cls in different:
    print(f"{name}: {cls}, the table says {table[name]}")
print(f"{len(different)} different, {len(both) - len(different)} equal")
