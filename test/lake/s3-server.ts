import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll } from 'vitest';
import { freePort } from '../../embedded/free-port.ts';
import { startServerProcess } from '../../embedded/server-process.ts';
import { eventually } from '../support/eventually.ts';
import { pythonEnvironment } from '../support/python-environment.ts';

export interface S3Server {
  /** `s3://…`, an empty prefix of its own. */
  readonly location: string;
  readonly bucket: string;
  readonly client: S3Client;
  /** What a process needs to reach it. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * A server that speaks S3, with one bucket, for the test file that calls it at its top. The environment of the test process points to it.
 * It is moto, in a Python environment that is kept for the next time, which believes every signature; `TEST_S3_PROGRAM` names a versitygw,
 * which checks them and keeps files on the disk.
 */
export async function startS3Server(): Promise<S3Server> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'daybook-s3-'));
  const env = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'planted-s3-secret',
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  };
  const server = await startServerProcess({
    name: 'The S3 server',
    ...(await programOf({ port, folder, env })),
    logFile: join(folder, 's3.log'),
    stopSteps: [{ signal: 'SIGTERM', patienceMs: 5_000 }],
  });
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, env);
  const client = new S3Client({ forcePathStyle: true });
  afterAll(async () => {
    client.destroy();
    // Files that run after this one in the process may want no bucket.
    for (const [name, value] of before)
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const bucket = 'lake-of-tests';
  await eventually(async () => {
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    return 'made';
  });
  return { location: `s3://${bucket}/some/prefix`, bucket, client, env };
}

async function programOf(server: {
  port: number;
  folder: string;
  env: Readonly<Record<string, string>>;
}): Promise<{ command: string; args: readonly string[] }> {
  const { port, folder, env } = server;
  const { TEST_S3_PROGRAM: versitygw } = process.env;
  if (versitygw === undefined) {
    const command = join(await pythonEnvironment(), 'bin', 'moto_server');
    return { command, args: ['--host', '127.0.0.1', '--port', String(port)] };
  }
  const root = join(folder, 'objects');
  await mkdir(root);
  const { AWS_ACCESS_KEY_ID: access = '', AWS_SECRET_ACCESS_KEY: secret = '' } = env;
  const args = ['--port', `127.0.0.1:${port}`, '--access', access, '--secret', secret, 'posix', root];
  return { command: versitygw, args };
}
