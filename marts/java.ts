import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withoutSecrets } from '../scripts/without-secrets.mjs';
import { JavaMissing } from './errors.ts';

/** Throws JavaMissing: Spark 4 runs on Java 17 and 21. */
export async function requireJava(environment: NodeJS.ProcessEnv): Promise<void> {
  const { JAVA_HOME: home } = environment;
  const java = home === undefined ? 'java' : join(home, 'bin', 'java');
  const said = await promisify(execFile)(java, ['-version'], { env: withoutSecrets(environment) }).then(
    ({ stderr }) => stderr,
    () => undefined,
  );
  const version = said === undefined ? undefined : /version "([^"]+)"/.exec(said)?.[1];
  if (version === undefined || Number.parseInt(version, 10) < 17) throw new JavaMissing(version);
}
