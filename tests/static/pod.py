#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: pod.py TREE

Check the objects of Kubernetes in the blocks of YAML in docs/emu/containers.md. Print a line for each violation of
pod.schema.json, which allows only what the documents use, for each variable that no environment sets, and if no
container has the port of RoCEv2.
"""
import json
import pathlib
import re
import sys

import jsonschema
import yaml

SCHEMA = pathlib.Path(__file__).with_name("pod.schema.json")
ROCE = {"containerPort": 4791, "protocol": "UDP"}


def check_schema(pod, say):
    for error in jsonschema.Draft7Validator(json.loads(SCHEMA.read_text())).iter_errors(pod):
        best = jsonschema.exceptions.best_match([error])
        say(f"{'.'.join(str(key) for key in error.absolute_path)}: {best.message}")


def check_meaning(pod, say):
    containers = pod["spec"]["containers"]
    for container in containers:
        known = {variable["name"] for variable in container.get("env", [])}
        used = set(re.findall(r"\$\{?([A-Z_]+)", " ".join(container.get("args", []) + container.get("command", []))))
        for name in sorted(used - known):
            say(f"container {container['name']}: nothing sets {name}")
    ports = [{key: port.get(key) for key in ROCE} for one in containers for port in one.get("ports", [])]
    if ROCE not in ports:
        say("no container has UDP port 4791")


def main(tree):
    file = tree / "docs/emu/containers.md"
    wrong, pods = [], 0
    for block in re.findall(r"^```yaml\n(.*?)^```", file.read_text(), re.M | re.S):
        try:
            pod = yaml.safe_load(block)
        except yaml.YAMLError as error:
            wrong.append(str(error).replace("\n", " "))
            continue
        if not isinstance(pod, dict) or "apiVersion" not in pod:
            continue
        pods += 1
        before = len(wrong)
        check_schema(pod, wrong.append)
        if len(wrong) == before:
            check_meaning(pod, wrong.append)
    if not pods and not wrong:
        wrong.append("there is no pod")
    for text in wrong:
        print(f"docs/emu/containers.md: {text}")


main(pathlib.Path(sys.argv[1]).resolve())
