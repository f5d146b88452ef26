import { availableParallelism, totalmem } from 'node:os';

/**
 * What the session is told beside what figures depend on. In this process it listens to nobody else, and takes half of the memory,
 * unless a spark-defaults.conf says so itself; a cluster is told by its own.
 */
export function sparkSettings(
  master: string,
  { SPARK_CONF_DIR }: NodeJS.ProcessEnv,
): Readonly<Record<string, string>> {
  if (!master.startsWith('local')) return {};
  // Spark makes a secret for each session. Without one, its ports give every user of the machine the blocks of what is being read.
  const authenticated = { 'spark.authenticate': 'true' };
  if (SPARK_CONF_DIR !== undefined) return authenticated;
  const gigabytes = Math.max(1, Math.min(8, Math.floor(totalmem() / 2 ** 31)));
  return {
    ...authenticated,
    'spark.ui.enabled': 'false',
    'spark.driver.bindAddress': '127.0.0.1',
    'spark.driver.host': '127.0.0.1',
    'spark.driver.memory': `${gigabytes}g`,
    'spark.sql.shuffle.partitions': String(2 * availableParallelism()),
  };
}
