import { rm } from 'node:fs/promises';
import type { Home } from './home.ts';
import { readPrivateFile, replacePrivateFile } from './private-file.ts';
import { processIdentity } from './process-identity.ts';

/**
 * The addresses of the servers of a running `daybook up`, for the other commands.
 * The file contains passwords, so only its owner can read it.
 */
export interface RuntimeFacts {
  /** ISO time. */
  readonly startedAt: string;
  readonly database: RuntimeDatabase;
  /** `address` is host:port of gRPC, `ui` the URL of the Web UI when it is known. */
  readonly temporal: { readonly address: string; readonly ui?: string };
  readonly sandbox?: RuntimeSandbox;
  /** The address of the console. */
  readonly http?: { readonly url: string };
}

export interface RuntimeDatabase {
  readonly url: string;
  /** True if this process started the database on loopback, where anybody can take its port while it is down. */
  readonly isEmbedded: boolean;
}

export interface RuntimeSandbox {
  readonly url: string;
  readonly adminUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly connections: readonly SandboxConnection[];
}

export interface SandboxConnection {
  readonly name: string;
  readonly platform: string;
  readonly accessToken: string;
  readonly ready: boolean;
}

/** Replaces the whole file. Call it again after adding a fact, such as the console's address. */
export async function writeRuntimeFile(home: Home, facts: RuntimeFacts): Promise<void> {
  const written: WrittenFacts = { ...facts, pid: process.pid, identity: await processIdentity(process.pid) };
  await replacePrivateFile(home.runtimeFile, `${JSON.stringify(written, null, 2)}\n`);
}

/** Reads the facts and the pid of the `daybook up` that runs on this home; undefined if none runs (or if it was killed). */
export async function readRuntimeFile(
  home: Home,
): Promise<(RuntimeFacts & { readonly pid: number }) | undefined> {
  const text = await readPrivateFile(home.runtimeFile);
  if (text === undefined) return undefined;
  const { identity, ...facts } = JSON.parse(text) as WrittenFacts;
  return identity !== undefined && identity === (await processIdentity(facts.pid)) ? facts : undefined;
}

export async function removeRuntimeFile(home: Home): Promise<void> {
  await rm(home.runtimeFile, { force: true });
}

type WrittenFacts = RuntimeFacts & { readonly pid: number; readonly identity: string | undefined };
