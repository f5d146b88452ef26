import { explain } from '../explain.ts';

/** What `doctor` says of one thing. */
export interface Finding {
  what: string;
  ok: boolean;
  /** The result, and the remedy if there is a problem. */
  found: string;
  /** It works, but somebody should look at it. */
  warning?: true;
}

/** Runs a check: it returns what to say where all is well, and throws what is wrong. */
export async function finding(what: string, check: () => Promise<string>): Promise<Finding> {
  try {
    return { what, ok: true, found: await check() };
  } catch (error) {
    return failed(what, error);
  }
}

/** A check of what later ones need: adds its finding, and returns its value; undefined where it failed. */
export async function attempt<Value>(
  findings: Finding[],
  what: string,
  check: () => Promise<{ value: Value; found: string }>,
): Promise<Value | undefined> {
  try {
    const { value, found } = await check();
    findings.push({ what, ok: true, found });
    return value;
  } catch (error) {
    findings.push(failed(what, error));
    return undefined;
  }
}

/** `problems`: a sentence for each; `allWell`: the sentence where there is none. */
export interface CheckResult {
  readonly problems: readonly string[];
  readonly allWell: string;
}

/** Runs a check of settings that may be intended on one's own server, network or machine, so none of them fails the command. */
export async function warnings(
  what: string,
  check: () => CheckResult | Promise<CheckResult>,
): Promise<Finding[]> {
  try {
    const { problems, allWell } = await check();
    if (problems.length === 0) return [{ what, ok: true, found: allWell }];
    return problems.map((found) => ({ what, ok: true, found, warning: true as const }));
  } catch (error) {
    return [failed(what, error)];
  }
}

function failed(what: string, error: unknown): Finding {
  return { what, ok: false, found: explain(error, { verbose: false }) };
}
