#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: ci.py TREE

Check the CI definitions. Print a line for each violation of the schemas beside this file (which allow
only what the project uses), for each lane of scripts/test that is not run by exactly one job of each
system, and for a job `required` that does not need all other jobs. The same for what packaging/ci offers to
other projects, and for the examples of docs/ci.md.
"""
import json
import pathlib
import re
import subprocess
import sys

import jsonschema
import yaml

HERE = pathlib.Path(__file__).parent


def load(path, schema, say):
    """Return the document, in which all values are strings; None if it violates the schema."""
    if not path.is_file():
        say(path, "is missing")
        return None
    return parse(path, path.read_text(), json.loads((HERE / schema).read_text()), say)


def parse(path, text, schema, say):
    try:
        document = yaml.load(text, yaml.BaseLoader)
    except yaml.YAMLError as error:
        say(path, str(error).replace("\n", " "))
        return None
    wrong = list(jsonschema.Draft7Validator(schema).iter_errors(document))
    for error in wrong:
        best = jsonschema.exceptions.best_match([error])
        say(path, f"{'.'.join(str(key) for key in error.absolute_path)}: {best.message}")
    return None if wrong else document


def check_lanes(path, groups, tree, say):
    """Check that each lane is in exactly one group."""
    named = re.search(r'^all_lanes="(.*)"$', (tree / "scripts/test").read_text(), re.M)[1].split()
    files = {file.name for file in (tree / "scripts/lanes").iterdir()}
    for lane in sorted(files ^ set(named)):
        say(tree / "scripts/test", f"lane {lane} is only in one of all_lanes and scripts/lanes/")
    run = [lane for group in groups for lane in group.split()]
    for lane in named:
        if run.count(lane) != 1:
            say(path, f"lane {lane} is run by {run.count(lane)} jobs")
    for lane in sorted(set(run) - set(named)):
        say(path, f"unknown lane {lane}")


def runs(job):
    return [step["run"] for step in job["steps"] if "run" in step]


def check_github(tree, say):
    path = tree / ".github/workflows/test.yml"
    document = load(path, "ci-github.schema.json", say)
    if document:
        jobs, groups = document["jobs"], []
        for job in jobs.values():
            for command in runs(job):
                arguments = command.removeprefix("scripts/test ")
                if arguments == "${{ matrix.lanes }}":
                    groups += job["strategy"]["matrix"]["lanes"]
                elif arguments != command:
                    groups.append(arguments)
        check_lanes(path, groups, tree, say)
        required = jobs.get("required", {})
        missing = set(jobs) - {"required"} - set(required.get("needs", []))
        if missing or required.get("if") != "always()":
            say(path, f"job required has to wait for all: {' '.join(sorted(missing))}")
        for name in required.get("needs", []):
            if {"if": f"needs.{name}.result != 'success'", "run": "exit 1"} not in required["steps"]:
                say(path, f"job required must fail if {name} fails")

    path = tree / ".github/workflows/hil.yml"
    document = load(path, "ci-github.schema.json", say)
    if document:
        if set(document["on"]) & {"push", "pull_request"}:
            say(path, "a change would run in the lab before its review")
        if document.get("concurrency", {}).get("cancel-in-progress") != "false":
            say(path, "two runs could use the lab at the same time")
        for name, job in document["jobs"].items():
            if "self-hosted" not in job["runs-on"] or not runs(job)[0].startswith("scripts/hil "):
                say(path, f"job {name} does not run scripts/hil in the lab")
    for extra in sorted((tree / ".github").rglob("*.y*ml")):
        if extra.name not in ("test.yml", "hil.yml"):
            say(extra, "unexpected workflow; tests/static/ci.py checks only test.yml and hil.yml")


def check_gitlab(tree, say):
    path = tree / ".gitlab-ci.yml"
    document = load(path, "ci-gitlab.schema.json", say)
    if not document:
        return
    jobs = {name: job for name, job in document.items() if name not in ("stages", "workflow")}
    groups = []
    for name, job in jobs.items():
        if job["stage"] not in document["stages"]:
            say(path, f"job {name}: unknown stage {job['stage']}")
        for command in job["script"]:
            arguments = command.removeprefix("scripts/test ")
            if arguments == "$LANES":
                groups += [lanes for row in job["parallel"]["matrix"] for lanes in row["LANES"]]
            elif arguments != command:
                groups.append(arguments)
            if command.startswith("scripts/hil ") and "resource_group" not in job:
                say(path, f"two runs of job {name} could use the lab at the same time")
    check_lanes(path, groups, tree, say)
    tests = {name for name, job in jobs.items() if job["stage"] == "test"}
    missing = tests - set(jobs.get("required", {}).get("needs", []))
    if missing or not tests:
        say(path, f"job required has to wait for all: {' '.join(sorted(missing))}")


def check_container(tree, say):
    """The container for editors is that of GitHub's jobs, and scripts/install-deps knows what it installs."""
    path = tree / ".devcontainer/devcontainer.json"
    try:
        container = json.loads(re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.M))
    except (OSError, ValueError) as error:
        return say(path, str(error))
    workflow = yaml.load((tree / ".github/workflows/test.yml").read_text(), yaml.BaseLoader)
    if container.get("image") != workflow["jobs"]["lanes"]["container"]["image"]:
        say(path, "its image is not that of .github/workflows/test.yml")
    script, *groups = container.get("onCreateCommand", "").split()
    if script != "scripts/install-deps" or subprocess.run(
            [tree / script, "--list", *groups], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        say(path, "onCreateCommand is not scripts/install-deps GROUP...")


# The fenced blocks of docs/ci.md, by the name of the file in their first line.
EXAMPLE = re.compile(r"^```yaml\n(# (\S+)\n.*?)^```$", re.M | re.S)
KINDS = {".github/workflows/test.yml": "workflow", ".gitlab-ci.yml": "pipeline"}


def check_users(tree, say):
    """The files for other projects, and the examples of their use."""
    schemas = json.loads((HERE / "ci-users.schema.json").read_text())
    directory, page = tree / "packaging/ci/dpumap-emu", tree / "docs/ci.md"
    action, jobs = directory / "action.yml", directory / "gitlab.yml"
    found = [(action, "action", action.read_text()), (jobs, "template", jobs.read_text())]
    examples = EXAMPLE.findall(page.read_text())
    if [KINDS.get(name) for _, name in examples] != ["workflow", "pipeline", "workflow"]:
        say(page, "the examples are not those of C, Python and Rust")
    found += [(page, KINDS[name], text) for text, name in examples if name in KINDS]
    documents = {}
    for path, kind, text in found:
        documents[kind] = parse(path, text, {**schemas, "$ref": f"#/definitions/{kind}"}, say)
    if documents["action"] and documents["workflow"]:
        inputs = documents["action"].get("inputs", {})
        for job in documents["workflow"]["jobs"].values():
            for step in job["steps"]:
                for name in set(step.get("with", {})) - set(inputs):
                    say(page, f"the action has no input {name}")


def main(tree):
    def say(path, text):
        print(f"{path.relative_to(tree)}: {text}")

    check_github(tree, say)
    check_gitlab(tree, say)
    check_container(tree, say)
    check_users(tree, say)


main(pathlib.Path(sys.argv[1]).resolve())
