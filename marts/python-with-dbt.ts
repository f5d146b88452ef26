import { join } from 'node:path';
import { pythonWith, type PythonPlaces } from '../python/python-environment.ts';
import type { NeedOfPython } from '../python/errors.ts';
import { dbtProject } from './dbt-project.ts';

/** Returns the Python with dbt. Throws PythonMissing, PythonPackagesMissing. */
export function pythonWithDbt(places: PythonPlaces): Promise<string> {
  return pythonWith(
    { name: 'dbt', requirements: join(dbtProject, 'requirements.txt'), for: martsNeedPython },
    places,
  );
}

/** Returns the Python with dbt and PySpark. Throws PythonMissing, PythonPackagesMissing. */
export function pythonWithSpark(places: PythonPlaces): Promise<string> {
  return pythonWith(
    {
      name: 'dbt-spark',
      requirements: join(dbtProject, 'spark-requirements.txt'),
      sources: { packages: ['pyspark'], requirements: join(dbtProject, 'spark-build-requirements.txt') },
      for: { ...martsNeedPython, again: 'daybook dbt build --target spark' },
    },
    places,
  );
}

export const martsNeedPython: NeedOfPython = { who: 'The marts', again: 'daybook dbt build' };
