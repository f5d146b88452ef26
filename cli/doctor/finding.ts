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
export async function finding(what: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return { what, ok: true, found: await look() };
  } catch (error) {
    return { what, ok: false, found: explain(error, { verbose: false }) };
  }
}

/** A check of what later ones need: adds its finding, and returns its value; undefined where it failed. */
export async function attempt<Value>(
  findings: Finding[],
  what: string,
  look: () => Promise<{ value: Value; found: string }>,
): Promise<Value | undefined> {
  let value: Value | undefined;
  findings.push(
    await finding(what, async () => {
      const seen = await look();
      ({ value } = seen);
      return seen.found;
    }),
  );
  return value;
}

/** `toLookAt`: a sentence for each problem; `nothing`: the sentence where there is none. */
export interface Looked {
  readonly toLookAt: readonly string[];
  readonly nothing: string;
}

/** Runs a check of settings that may be intended on one's own server, network or machine, so none of them fails the command. */
export async function warnings(what: string, look: () => Looked | Promise<Looked>): Promise<Finding[]> {
  const found: Finding[] = [];
  const looked = await finding(what, async () => {
    const { toLookAt, nothing } = await look();
    found.push(...toLookAt.map((one) => ({ what, ok: true, found: one, warning: true as const })));
    return nothing;
  });
  return found.length > 0 ? found : [looked];
}
