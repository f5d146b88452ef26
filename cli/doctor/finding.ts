import { explain } from '../explain.ts';

/** The result of one check of `doctor`. */
export interface Finding {
  what: string;
  ok: boolean;
  /** The result, and the remedy if there is a problem. */
  found: string;
  /** The check passed, but a person should look at it. */
  warning?: true;
}

/** Runs a check, which returns its sentence if all is well, and throws if there is a problem. */
export async function finding(what: string, check: () => Promise<string>): Promise<Finding> {
  try {
    return { what, ok: true, found: await check() };
  } catch (error) {
    return failed(what, error);
  }
}

/** Runs a check that later ones depend on: adds its finding and returns its value. Undefined if it failed. */
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

/** `problems`: one sentence each; `allWell`: the sentence if there are none. */
export interface CheckResult {
  readonly problems: readonly string[];
  readonly allWell: string;
}

/** Runs a check of settings that may be intended on one's own server, network or machine, so none of its problems fails the command. */
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
