import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, inject } from 'vitest';
import { freePort } from '../../embedded/free-port.ts';
import { startServerProcess } from '../../embedded/server-process.ts';
import { eventually } from '../support/eventually.ts';
import { askOnDemand } from '../support/on-demand.ts';

export interface S3Server {
  /** `s3://…`, with an empty prefix for each test file. */
  readonly location: string;
  readonly bucket: string;
  readonly client: S3Client;
  /** The environment that a process needs to reach it. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * A bucket on an S3 server, for the test file that calls this at its top. The environment of the test process points to it. The server is
 * moto, one for the test run, which accepts every signature. `TEST_S3_PROGRAM` names a versitygw, which checks them and keeps files on
 * disk: one for each test file.
 */
export async function startS3Server(): Promise<S3Server> {
  const { TEST_S3_PROGRAM: versitygw } = process.env;
  const key = { access: 'test', secret: 'planted-s3-secret' };
  const env = {
    AWS_ENDPOINT_URL: await (versitygw === undefined
      ? askOnDemand(inject('s3OnDemandUrl'), '/')
      : startVersitygw(versitygw, key)),
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: key.access,
    AWS_SECRET_ACCESS_KEY: key.secret,
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  };
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, env);
  const client = new S3Client({ forcePathStyle: true });
  afterAll(() => {
    client.destroy();
    // Later test files in the process may want no bucket.
    for (const [name, value] of before)
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
  });
  const bucket = `lake-${randomBytes(6).toString('hex')}`;
  await eventually(async () => {
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    return 'made';
  });
  return { location: `s3://${bucket}/some/prefix`, bucket, client, env };
}

/** Starts a versitygw, and returns its endpoint. */
async function startVersitygw(
  command: string,
  { access, secret }: { access: string; secret: string },
): Promise<string> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'daybook-s3-'));
  const root = join(folder, 'objects');
  await mkdir(root);
  const server = await startServerProcess({
    name: 'The S3 server',
    command,
    args: ['--port', `127.0.0.1:${port}`, '--access', access, '--secret', secret, 'posix', root],
    logFile: join(folder, 's3.log'),
    stopSteps: [{ signal: 'SIGTERM', timeoutMs: 5_000 }],
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  return `http://127.0.0.1:${port}`;
}
