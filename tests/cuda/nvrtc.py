"""Compiles our kernels with NVIDIA's own compiler, for every architecture it knows from sm_80 on. It needs no GPU.

    python3 tests/cuda/nvrtc.py [FOLDER]

NVRTC comes as a wheel of 90 MB, which is kept in FOLDER (default: target/nvrtc). Its version is that of CUDA 13.0: a newer
one writes PTX that a driver of CUDA 13.0 refuses.
"""

import ctypes
import re
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CUDA = ROOT / "src/ops/cuda"
WHEEL = "nvidia-cuda-nvrtc==13.0.88"
OLDEST = 80
NEWEST_PTX = (9, 0)


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "target/nvrtc"
    nvrtc = load(folder)
    missing = [name for name in functions_used() if not hasattr(nvrtc, name)]
    assert not missing, f"NVRTC lacks {missing}"
    source = kernels()
    wanted = len(re.findall(r'extern "C" __global__', source))
    for architecture in architectures(nvrtc):
        program = compiled(nvrtc, source, f"sm_{architecture}")
        code, ptx = output(nvrtc, "CUBIN", program), output(nvrtc, "PTX", program).decode()
        assert code.startswith(b"\x7fELF"), f"sm_{architecture}: no machine code"
        found = len(re.findall(r"\.visible \.entry", ptx))
        assert found == wanted, f"sm_{architecture}: {found} kernels, not {wanted}"
        version = tuple(map(int, re.search(r"\.version (\d+)\.(\d+)", ptx).groups()))
        assert version <= NEWEST_PTX, f"sm_{architecture}: PTX {version}"
        print(f"sm_{architecture}: {found} kernels, {len(code)} bytes of machine code, PTX {version[0]}.{version[1]}")


def load(folder):
    libraries = folder / "nvidia/cu13/lib"
    if not (libraries / "libnvrtc.so.13").exists():
        folder.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        subprocess.run([*pip, "--dest", str(folder), WHEEL], check=True)
        with zipfile.ZipFile(next(folder.glob("nvidia_cuda_nvrtc*.whl"))) as wheel:
            wheel.extractall(folder)
    # It opens its second library by name.
    for builtins in libraries.glob("libnvrtc-builtins.so.*"):
        ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(str(libraries / "libnvrtc.so.13"))


def functions_used():
    """Those that the program looks for."""
    section = (CUDA / "libraries.rs").read_text().split("functions! { NVRTC")[1].split("functions!")[0]
    return re.findall(r"^    (nvrtc\w+)\(", section, re.MULTILINE)


def kernels():
    """The text that the program compiles."""
    names = re.findall(r'include_str!\("(kernels/\w+\.cu)"\)', (CUDA / "compile.rs").read_text())
    assert {Path(name).name for name in names} == {path.name for path in (CUDA / "kernels").iterdir()}
    return "".join((CUDA / name).read_text() for name in names)


def architectures(nvrtc):
    count = ctypes.c_int()
    check(nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count)))
    known = (ctypes.c_int * count.value)()
    check(nvrtc.nvrtcGetSupportedArchs(known))
    return [architecture for architecture in known if architecture >= OLDEST]


def compiled(nvrtc, source, architecture):
    program = ctypes.c_void_p()
    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernels.cu", 0, None, None))
    options = (ctypes.c_char_p * 1)(f"--gpu-architecture={architecture}".encode())
    result = nvrtc.nvrtcCompileProgram(program, 1, options)
    assert result == 0, f"{architecture}:\n{output(nvrtc, 'ProgramLog', program).decode()}"
    return program


def output(nvrtc, what, program):
    size = ctypes.c_size_t()
    check(getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    check(getattr(nvrtc, f"nvrtcGet{what}")(program, buffer))
    return buffer.raw


def check(result):
    assert result == 0, f"NVRTC answers {result}"


main()
