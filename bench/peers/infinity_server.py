"""Becomes infinity's server: infinity_server.py KIND MODEL_DIR SCRATCH PORT.

Its engine is optimum, which is ONNX Runtime, on the same graph. OpenMP waits
passively: torch's threads would spin on the cores the model runs on.
"""

import os
import sys
from pathlib import Path

from layout import lay_out


def main(kind, folder, scratch, port):
    scratch = str(Path(scratch).resolve())  # its loader wants an absolute path
    os.environ.update(
        OMP_WAIT_POLICY="PASSIVE", HF_HUB_OFFLINE="1", INFINITY_ANONYMOUS_USAGE_STATS="0", HF_HOME=scratch,
    )
    local = str(lay_out(kind, folder, scratch + "/model"))
    program = str(Path(sys.executable).parent / "infinity_emb")
    os.execv(program, [
        program, "v2", "--model-id", local, "--served-model-name", "local", "--engine", "optimum", "--device", "cpu",
        "--pooling-method", "cls", "--host", "127.0.0.1", "--port", port, "--url-prefix", "/v1",
        "--bettertransformer", "false", "--log-level", "warning",
    ])


if __name__ == "__main__":
    main(*sys.argv[1:])
