"""Generates the modules in this folder from the official protobuf definitions.

They are the descriptors of two Python packages, whose versions stand in README.md. Run it in a
virtual environment, from the project's root:

    pip install opentelemetry-proto==1.45.2 googleapis-common-protos==1.76.0
    npm install --no-save @bufbuild/protoc-gen-es@2.17.0
    python test/support/otel/proto/generate.py
"""

import pathlib
import subprocess

from google.protobuf import descriptor_pb2
from google.protobuf.compiler import plugin_pb2
from google.rpc import status_pb2
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

folder = pathlib.Path(__file__).parent


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def messages_of(messages):
    for message in messages:
        yield message
        yield from messages_of(message.nested_type)


files = {}


def add(descriptor):
    for dependency in descriptor.dependencies:
        add(dependency)
    file = descriptor_pb2.FileDescriptorProto()
    descriptor.CopyToProto(file)
    # protoc fills the JSON names in before it calls a plugin.
    for message in messages_of(file.message_type):
        for field in message.field:
            field.json_name = camel(field.name)
    files[file.name] = file


add(trace_service_pb2.DESCRIPTOR)
add(logs_service_pb2.DESCRIPTOR)
add(status_pb2.DESCRIPTOR)
request = plugin_pb2.CodeGeneratorRequest(
    proto_file=files.values(),
    file_to_generate=[name for name in files if not name.startswith("google/protobuf/")],
    parameter="target=js+dts,import_extension=js",
)
run = subprocess.run(
    ["node_modules/.bin/protoc-gen-es"], input=request.SerializeToString(), capture_output=True, check=True
)
for made in plugin_pb2.CodeGeneratorResponse.FromString(run.stdout).file:
    path = folder / made.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(made.content)
