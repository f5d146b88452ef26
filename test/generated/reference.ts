import type { Command, Option } from 'commander';
import { z } from 'zod';
import { createProgram } from '../../cli/program.ts';
import { variables } from '../../config/variables.ts';

/** The text of `docs/reference.md`, generated from the program and from the configuration schema. */
export function reference(): string {
  return [
    '# Reference',
    '',
    '<!-- Made by "npm run generate" from config/variables.ts and cli/. Edit those. -->',
    '',
    '## Variables',
    '',
    'Read from the environment, or from a `.env` file in the working folder. An empty variable counts as not set. A duration is a number and `s`, `m`, `h` or `d`.',
    'All mistakes are reported at once, with exit code 2.',
    '',
    ...table(
      ['variable', 'meaning', 'default'],
      [...Object.entries(variables).map(variableRow), ...temporalVariables].sort(
        ([one = ''], [other = '']) => (one < other ? -1 : 1),
      ),
    ),
    '',
    '## Commands',
    '',
    'Each is run as `npx daybook COMMAND`; `--help` prints it with an example. Exit codes: 0 done; 1 failed; 2 wrong usage or configuration, or the command',
    'requires something that has to be changed or provided first, such as a migration, the key, a snapshot or Python; 3 partly done (some streams failed,',
    'records are in quarantine, deletions wait for approval, or `status` shows something stale). `status` does not exit with 3 for an open alert. `doctor`',
    'exits with 1 for anything that is missing, also for Python or a search attribute, without which syncs work. With `--verbose`, any command prints the',
    'stack of its error.',
    '',
    ...leavesOf(createProgram(() => undefined)).flatMap(commandSection),
  ].join('\n');
}

/** Variables of Temporal's own environment configuration, which its library reads. */
const temporalVariables = [
  ['`TEMPORAL_ADDRESS`', 'Host and port of Temporal. Not set: an embedded server', ''],
  ['`TEMPORAL_API_KEY`', 'API key, of Temporal Cloud', ''],
  [
    '`TEMPORAL_DEPLOYMENT_NAME`, `TEMPORAL_WORKER_BUILD_ID`',
    'With both, workers are [versions](operations.md#upgrading) of a deployment',
    '',
  ],
  ['`TEMPORAL_NAMESPACE`', 'Namespace', '`default`'],
  ['`TEMPORAL_TLS…`', 'As in Temporal’s environment configuration', ''],
];

function variableRow([name, schema]: [string, z.ZodType]): string[] {
  const written = schema instanceof z.ZodPrefault ? `\`${String(schema.def.defaultValue)}\`` : '';
  return [`\`${name}\``, schema.description ?? '', written];
}

function commandSection(command: Command): string[] {
  const names = pathOf(command);
  const uses = command.registeredArguments.map((argument) => {
    const name = argument.variadic ? `${argument.name()}...` : argument.name();
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  const rows = [
    ...command.registeredArguments.map((argument, index) => [
      `\`${uses[index] ?? ''}\``,
      argument.description,
    ]),
    ...command.options.map((option) => [`\`${option.flags}\``, describedWithDefault(option)]),
  ];
  return [
    `### ${names.join(' ')}`,
    '',
    `\`daybook ${[...names, ...uses].join(' ')}\``,
    '',
    command.description(),
    '',
    ...(rows.length === 0 ? [] : [...table(['', ''], rows), '']),
  ];
}

/** Adds the default to a description. A boolean needs none: it is off unless given. */
function describedWithDefault({ description, defaultValue, defaultValueDescription }: Option): string {
  const isWritten = typeof defaultValue === 'string' || typeof defaultValue === 'number';
  const written = defaultValueDescription ?? (isWritten ? String(defaultValue) : undefined);
  return written === undefined ? description : `${description} (default: \`${written}\`)`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}

/** The commands that people can type, without the hidden ones. */
export function leavesOf(command: Command): Command[] {
  const shown = command.createHelp().visibleCommands(command);
  const own = shown.filter((one) => one.name() !== 'help');
  return own.length === 0 ? [command] : own.flatMap(leavesOf);
}

function pathOf(command: Command): string[] {
  return command.parent === null ? [] : [...pathOf(command.parent), command.name()];
}
