import { availableParallelism, totalmem } from 'node:os';

/**
 * Session settings that do not affect figures. A local Spark accepts no outside connections, and takes half of the memory, unless a
 * spark-defaults.conf sets these; a cluster has its own.
 */
export function sparkSettings(
  master: string,
  { SPARK_CONF_DIR }: NodeJS.ProcessEnv,
): Readonly<Record<string, string>> {
  if (!master.startsWith('local')) return {};
  // Makes Spark create a secret for each session. Without one, its ports give the blocks being read to every user of the machine.
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
