import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installTemporalCli } from './install-temporal-cli.mjs';
import { temporalCliVersion } from './temporal-cli-version.mjs';
import { withoutSecrets } from './without-secrets.mjs';

/**
 * Builds the release from the Go modules pinned in temporal-cli/go.mod.
 *
 * @param {string} target
 * @param {(progress: string) => void} report
 */
export async function buildTemporalCli(target, report) {
  const ticking = reportTime(report);
  try {
    return await installTemporalCli(target, build);
  } catch (error) {
    throw new Error(`Building it from Go modules failed (${error.message}).`, { cause: error });
  } finally {
    clearInterval(ticking);
  }
}

async function build(folder) {
  const version = `-X github.com/temporalio/cli/internal/temporalcli.Version=${temporalCliVersion}`;
  const go = spawn(
    'go',
    [
      'build',
      // The linker would drop the debug information anyway.
      '-gcflags=all=-dwarf=false',
      '-ldflags',
      `-s -w ${version}`,
      '-o',
      join(folder, 'temporal'),
      'github.com/temporalio/cli/cmd/temporal',
    ],
    {
      cwd: fileURLToPath(new URL('../temporal-cli', import.meta.url)),
      // Modules come from go.sum, regardless of the user's own Go settings.
      env: { ...withoutSecrets(process.env), CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '-mod=readonly' },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let output = '';
  go.stderr.on('data', (text) => {
    output = `${output}${text}`.slice(-4000);
  });
  await new Promise((resolve, reject) => {
    go.once('error', (error) =>
      reject(error.code === 'ENOENT' ? new Error(`Go is not installed; ${getGo}`) : error),
    );
    go.once('close', (code) => (code === 0 ? resolve() : reject(new Error(explain(output)))));
  });
}

/** Returns the output of `go build`, or what to do about a known problem that it does not explain. */
function explain(output) {
  // Go 1.21 and newer download the toolchain that go.mod requires, unless configured not to; older versions do not know the format.
  if (/requires go >=|invalid go version/.test(output))
    return `Go is too old and may not fetch a newer one; ${getGo}`;
  if (/dial tcp|no such host|i\/o timeout/.test(output))
    return 'the Go module proxy (GOPROXY) cannot be reached';
  return output.trim().split('\n').slice(-5).join('\n');
}

const getGo = 'Go 1.26 or newer is at https://go.dev/dl';

function reportTime(report) {
  const started = Date.now();
  // Measured: 5.8 minutes of CPU time if the modules are there, and half as much again to download them.
  const expectedSeconds = Math.round(380 / availableParallelism());
  const tell = () => {
    const left = expectedSeconds - (Date.now() - started) / 1000;
    report(`building it with Go, once: ${inWords(left)}`);
  };
  tell();
  return setInterval(tell, 5000);
}

function inWords(left) {
  if (left < -30) return 'longer than usual, the machine is busy or Go is downloading';
  if (left < 15) return 'nearly done';
  return `about ${left > 90 ? `${Math.round(left / 60)} min` : `${Math.round(left / 10) * 10} s`} left`;
}
