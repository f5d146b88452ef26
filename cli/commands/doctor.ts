import { Command } from 'commander';
import type { Finding } from '../doctor/finding.ts';
import type { SetExitCode } from '../exit-codes.ts';
import { print, printJson } from '../printer.ts';

export function doctorCommand(setExitCode: SetExitCode): Command {
  return new Command('doctor')
    .description(
      'Check configuration, database, Temporal (including task queue fairness), API credentials, disk and versions.',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook doctor')
    .action(async ({ json }: { json?: true }) => {
      const { examine } = await import('../doctor/examine.ts');
      const { findings, exitCode } = await examine();
      if (json === true) printJson(findings);
      else
        for (const finding of findings) print(`${findingSymbol(finding)} ${finding.what}: ${finding.found}`);
      setExitCode(exitCode);
    });
}

function findingSymbol({ ok, warning }: Finding): string {
  if (!ok) return '✗';
  return warning === true ? '!' : '✓';
}
