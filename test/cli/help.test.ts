import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { createProgram } from '../../cli/program.ts';
import { runDaybook } from '../support/daybook-process.ts';

/** All commands as they are typed, groups included. */
function commandsOf(command: ReturnType<typeof createProgram>, typed: readonly string[] = []): string[][] {
  return command.commands.flatMap((sub) => {
    const name = [...typed, sub.name()];
    return [name, ...commandsOf(sub, name)];
  });
}

function commandNamed(typed: readonly string[]): typeof program {
  return typed.reduce<typeof program>(
    (parent, name) => parent.commands.find((sub) => sub.name() === name) ?? parent,
    program,
  );
}

const program = createProgram(() => undefined);
const shown = commandsOf(program).filter(([name]) => name !== 'tour');

test.each(shown.map((command) => [command.join(' '), command] as const))(
  'daybook %s --help has an example',
  (_, command) => {
    let help = '';
    const found = commandNamed(command);
    found.configureOutput({ writeOut: (text) => (help += text) });
    found.outputHelp();
    expect(help).toMatch(new RegExp(String.raw`Example:\n  \$ .*npx daybook ${command.join(' ')}`));
  },
);

const bounded = shown.flatMap((typed) =>
  commandNamed(typed)
    .options.filter(({ flags }) => /<duration>|--records/.test(flags))
    .map(({ flags, description }) => [typed.join(' '), flags, description] as const),
);

test.each(bounded)('daybook %s --help names the bounds of %s', (_, __, description) => {
  expect(description).toMatch(/1[smh] to (3650d|36525d)|100 to 1,000,000/);
});

test('--help and --version print and exit with 0', async () => {
  const options = { env: {}, cwd: tmpdir() };
  const [help, version] = await Promise.all([
    runDaybook(['--help'], options),
    runDaybook(['--version'], options),
  ]);
  expect([help.code, version.code]).toEqual([0, 0]);
  expect(help.stdout).toContain('sync');
  expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});
