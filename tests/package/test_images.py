# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Images of containers (scripts/image), made of the packages in $DPUMAP_PACKAGES. By default: the image of the
emulated card, run by bubblewrap. Every night also: the other image, both made again, and containers of podman."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = os.environ["DPUMAP_PACKAGES"]
ARCHITECTURE = subprocess.check_output(["dpkg", "--print-architecture"], text=True).strip()
LARGEST = {"dpumap-emu": 14_000_000, "dpumapd": 26_000_000}  # bytes of files
SANDBOX = "bwrap --die-with-parent --unshare-all --cap-drop ALL --uid 1000 --gid 1000".split()
CONFIGURATION = """listen = [ "unix:/run/dpumap/dpumapd.sock" ];
admin = "/run/dpumap/admin.sock";
exports = ( { name = "fast"; kind = "dm"; size = "64K"; allow = [ "uid:1000" ]; },
            { name = "bulk"; kind = "dram"; size = "16M"; allow = [ "uid:1000" ]; } );
"""
COPY = "; ".join(
    f"dpumap cp /usr/bin/busybox {name} /tmp/{name} && cmp /usr/bin/busybox /tmp/{name} && echo {name} is the same"
    for name in ("fast", "bulk")
)
nightly = pytest.mark.skipif(os.environ.get("DPUMAP_NIGHTLY") != "yes", reason="runs every night")


def run(*words, check=True, **options):
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False, **options
    )
    print("$", *words, f"\n{done.stdout}", flush=True)
    assert not check or done.returncode == 0, done.stdout
    return done.stdout if check else done


class Image:
    """The archive in the format of OCI, its configuration and its files."""

    def __init__(self, path):
        self.path = path
        with tarfile.open(path) as archive:

            def blob(descriptor):
                data = archive.extractfile(f"blobs/{descriptor['digest'].replace(':', '/')}").read()
                assert hashlib.sha256(data).hexdigest() == descriptor["digest"].split(":")[1]
                return data

            assert json.load(archive.extractfile("oci-layout"))["imageLayoutVersion"] == "1.0.0"
            self.index = json.load(archive.extractfile("index.json"))
            manifest = json.loads(blob(self.index["manifests"][0]))
            self.config = json.loads(blob(manifest["config"]))
            (layer,) = manifest["layers"]
            self.layer = path.with_suffix(".layer")
            self.layer.write_bytes(blob(layer))

    def members(self):
        with tarfile.open(self.layer) as files:
            return files.getmembers()

    def unpack(self, directory):
        directory.mkdir()
        run("tar", "-C", str(directory), "-xzf", str(self.layer))

    def environment(self):
        words = []
        for line in self.config["config"]["Env"]:
            words += ["--setenv", *line.split("=", 1)]
        return words


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """made(IMAGE, NAME, OPTION...): the image, which is built once for each name."""
    out = tmp_path_factory.mktemp("images")
    images = {}

    def build(image, name=None, *options):
        name = name or image
        if name not in images:
            words = ["--no-install", "--packages", PACKAGES, "--out", str(out), "--name", name, *options, image]
            run(str(ROOT / "scripts/image"), *words)
            images[name] = Image(out / f"{name}_{ARCHITECTURE}.oci.tar")
        return images[name]

    return build


def check_image(image, name, command):
    config = image.config["config"]
    assert config["User"] == "1000:1000" and list(config["Volumes"]) == ["/run/dpumap"]
    assert config["Entrypoint"] + config["Cmd"] == command
    assert image.config["os"] == "linux" and image.config["architecture"] == ARCHITECTURE
    members = image.members()
    size = sum(member.size for member in members)
    assert size < LARGEST[name], f"{name} has {size} bytes; the largest files: " + ", ".join(
        f"{m.name} {m.size}" for m in sorted(members, key=lambda m: -m.size)[:10]
    )
    for member in members:
        assert (member.uid, member.gid) == (0, 0) and not member.mode & 0o6000, member.name
        for unwanted in ("usr/share/man/", "usr/share/locale/", "usr/share/info/", "var/lib/apt/", "var/cache/"):
            assert not member.name.startswith(unwanted), member.name
    names = {member.name for member in members}
    for package in ("libc6", "ibverbs-providers"):
        assert f"var/lib/dpkg/status.d/{package}" in names and f"usr/share/doc/{package}/copyright" in names


def health_of(image):
    """Only the format of Docker has it."""
    with tarfile.open(str(image.path).replace(".oci.", ".docker.")) as archive:
        manifest = json.load(archive.extractfile("manifest.json"))[0]
        return json.load(archive.extractfile(manifest["Config"]))["config"]["Healthcheck"]["Test"]


def test_image_of_emulator(made):
    image = made("dpumap-emu")
    check_image(image, "dpumap-emu", ["/usr/bin/dpumap-emu", "start", "--foreground"])
    assert health_of(image) == ["CMD", "dpumap-emu", "status"]


def test_emulator_runs_in_bubblewrap(made, tmp_path):
    """A read-only root, no capability, no network: its own command, its health check, and a program."""
    image = made("dpumap-emu")
    root, volume = tmp_path / "root", tmp_path / "volume"
    image.unpack(root)
    volume.mkdir(mode=0o777)
    box = [*SANDBOX, "--ro-bind", str(root), "/", "--dev", "/dev", "--proc", "/proc", "--bind", str(volume), "/run/dpumap"]
    box += ["--clearenv", *image.environment(), *image.config["config"]["Entrypoint"]]
    serve = subprocess.Popen([*box, *image.config["config"]["Cmd"]], stderr=subprocess.PIPE, text=True)
    try:
        assert serve.stderr.readline() == "dpumap-emu: ready in /run/dpumap/emu\n"
        assert "profile bluefield-3" in run(*box, "status")
        said = run(*box, "run", "--as", "dpu", "--", "ibv_devinfo", check=False)
        assert said.returncode and "share the namespace (podman, docker: --pid container:NAME" in said.stdout
    finally:
        serve.terminate()
        serve.wait()
    assert "PORT_ACTIVE" in run(*box, "run", "--as", "dpu", "--", "ibv_devinfo", "-d", "mlx5_0")


@nightly
def test_image_of_dpumapd(made):
    image = made("dpumapd")
    check_image(image, "dpumapd", ["/usr/sbin/dpumapd", "--config", "/etc/dpumap/dpumapd.conf"])
    assert health_of(image) == ["CMD", "dpumapd", "ctl", "status", "--admin", "/run/dpumap/admin.sock"]


@nightly
def test_image_is_reproducible(made, tmp_path):
    first = made("dpumap-emu")
    words = ["--no-install", "--packages", PACKAGES, "--out", str(tmp_path), "dpumap-emu"]
    run(str(ROOT / "scripts/image"), *words)
    assert Image(tmp_path / first.path.name).index == first.index


@nightly
@pytest.mark.skipif("DPUMAP_FOREIGN_PACKAGES" not in os.environ, reason="no packages for another architecture")
def test_image_for_another_architecture(tmp_path):
    """Nothing of it can run while it is built; afterwards dpumapd does, under user-mode emulation."""
    packages, words = os.environ["DPUMAP_FOREIGN_PACKAGES"], ["--no-install", "--architecture", "arm64"]
    run(str(ROOT / "scripts/image"), *words, "--packages", packages, "--out", str(tmp_path), "dpumapd")
    image = Image(tmp_path / "dpumapd_arm64.oci.tar")
    assert image.config["architecture"] == "arm64"
    image.unpack(tmp_path / "root")
    program = ["qemu-aarch64-static", "-L", f"{tmp_path}/root", f"{tmp_path}/root/usr/sbin/dpumapd", "--version"]
    assert "dpumapd" in run(*program)


class Podman:
    """podman with a storage of its own, and a runtime that works here."""

    def __init__(self, directory):
        self.words = ["podman", "--storage-driver", "vfs", "--root", f"{directory}/root", "--runroot", f"{directory}/run"]
        self.words += ["--cgroup-manager", "cgroupfs"]
        self.limits = "--network none --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 --read-only".split()
        self.names = []

    def __call__(self, *words, **options):
        return run(*self.words, *words, **options)

    def choose_runtime(self, image):
        said = []
        for runtime in ("crun", "runc"):
            if not shutil.which(runtime):
                continue
            words = ["--runtime", runtime, "run", "--rm", "--no-healthcheck", *self.limits, image, "--version"]
            done = self(*words, check=False)
            if done.returncode == 0:
                print(f"podman runs containers with {runtime}")
                self.words += ["--runtime", runtime]
                return
            said.append(f"{runtime}: {done.stdout.strip().splitlines()[-1]}")
        pytest.skip(f"podman runs no containers here: {'; '.join(said) or 'neither crun nor runc is installed'}")

    def load(self, image):
        self("load", "-q", "-i", str(image.path).replace(".oci.", ".docker."))

    def start(self, name, *words):
        self.names.append(name)
        self("run", "-d", "--name", name, *self.limits, *words)
        for _ in range(100):
            if self("healthcheck", "run", name, check=False).returncode == 0:
                return
            time.sleep(0.1)
        pytest.fail(f"{name} is not healthy: {self('logs', name)}")

    def once(self, *words, **options):
        return self("run", "--rm", "--no-healthcheck", *self.limits, *words, **options)

    def close(self):
        for name in reversed(self.names):
            self("rm", "-f", "-t", "2", name, check=False)
        self("volume", "prune", "-f", check=False)
        run(*(["podman", "unshare"] if os.getuid() else []), "rm", "-rf", self.words[4], self.words[6], check=False)


@pytest.fixture(scope="session")
def podman(made, tmp_path_factory):
    if not shutil.which("podman"):
        pytest.skip("podman is not installed")
    it = Podman(tmp_path_factory.mktemp("podman"))
    it.load(made("dpumap-emu"))
    it.choose_runtime("dpumap-emu:0.1.0")
    yield it
    it.close()


@nightly
def test_pyverbs_in_a_container(made, podman):
    podman.load(made("dpumap-emu", "dpumap-host", "--include", "dpumap-host,python3-pyverbs"))
    program = "from pyverbs.device import Context; print(Context(name='mlx5_0').query_device().phys_port_cnt)"
    words = ["--cap-drop", "all", "dpumap-host:0.1.0", "run", "--as", "dpu", "--", "python3", "-c", program]
    assert podman.once(*words).splitlines()[-1] == "1"


@nightly
def test_containers_share_a_volume(made, podman, tmp_path):
    """The emulator, dpumapd on the DPU's function, and dpumap on the host's: three containers, one volume."""
    podman.load(made("dpumap-emu", "dpumap-host", "--include", "dpumap-host,python3-pyverbs"))
    podman.load(made("dpumapd", "dpumapd-emu", "--include", "dpumap-emu"))
    (tmp_path / "dpumapd.conf").write_text(CONFIGURATION, encoding="utf-8")
    shared = ["-v", "cards:/run/dpumap", "--cap-drop", "all"]
    joined = [*shared, "--pid", "container:emu"]
    podman.start("emu", *shared, "dpumap-emu:0.1.0")
    agent = ["-v", f"{tmp_path}/dpumapd.conf:/etc/dpumap/dpumapd.conf:ro", "--entrypoint", "dpumap-emu"]
    podman.start("dpu", *joined, *agent, *"dpumapd-emu:0.1.0 run --as dpu -- dpumapd --config".split(), "/etc/dpumap/dpumapd.conf")
    host = ["dpumap-host:0.1.0", "run", "--as", "host", "--"]
    said = podman.once(*joined, "--tmpfs", "/tmp", *host, "sh", "-c", COPY)
    assert "fast is the same" in said and "bulk is the same" in said
    refused = podman.once(*shared, *host, "ibv_devinfo", check=False)
    assert refused.returncode and "--pid container:NAME" in refused.stdout
    podman("stop", "-t", "5", "emu")
    assert podman("inspect", "emu", "--format", "{{.State.ExitCode}}").split()[-1] == "0"
