"""Protobuf text of y = x @ w with a weight of 16 KiB, stored as `raw` bytes or as `floats`."""

import struct
import sys

values = [((i * 7919) % 1009 - 504) / 256 for i in range(64 * 64)]
if sys.argv[1] == "raw":
    data = "raw_data: \"" + "".join(f"\\{byte:03o}" for byte in struct.pack(f"<{len(values)}f", *values)) + "\""
else:
    data = "float_data: " + repr(values)
shape = "shape { dim { dim_value: 2 } dim { dim_value: 64 } }"
print(f"""
ir_version: 8
producer_name: "test"
metadata_props {{ key: "author" value: "test" }}
opset_import {{ domain: "" version: 17 }}
graph {{
  name: "large"
  initializer {{ name: "w" dims: 64 dims: 64 data_type: 1 {data} }}
  input {{ name: "x" type {{ tensor_type {{ elem_type: 1 {shape} }} }} }}
  output {{ name: "y" type {{ tensor_type {{ elem_type: 1 {shape} }} }} }}
  node {{ name: "product" op_type: "MatMul" input: ["x", "w"] output: "y" }}
}}""")
