export { ForeignFolder } from '../scripts/own-cache.mjs';

/** Who needs Python, as the beginning of a sentence, and the command to rerun. */
export interface NeedOfPython {
  readonly who: string;
  readonly again: string;
}

export class PythonMissing extends Error {
  override readonly name = 'PythonMissing';
  readonly handling = 'stop';
  readonly isUsage = true;

  constructor(found: string | undefined, { who, again }: NeedOfPython) {
    super(
      `${who} need Python 3.10 or newer, and ${found === undefined ? 'there is no python3 on PATH' : `python3 is ${found}`}: ` +
        `install it, then run "${again}" again.`,
    );
  }
}

export class PythonPackagesMissing extends Error {
  override readonly name = 'PythonPackagesMissing';
  readonly handling = 'retry';

  /** `reason` is pip's last line. It may contain a proxy's or index's URL with a password of any characters, so it is cut off there. */
  constructor(what: string, reason: string, cause: unknown) {
    super(
      `${what} could not be installed from PyPI (${reason.replace(/\w+:\/\/.*$/s, '…')}). Check the network, or pip's own settings, and try again.`,
      { cause },
    );
  }
}
