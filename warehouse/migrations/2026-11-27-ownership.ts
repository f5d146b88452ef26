import { sql, type Kysely } from 'kysely';

/** A Temporal namespace carries its owner; this is the owner's side of it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(ownership).execute(db);
}

const ownership = `
  create table sync.namespace_claims (
    claim_id text collate "C" primary key,
    token text collate "C" not null,
    next_token text collate "C",
    generation integer not null,
    claimed_at timestamptz not null default clock_timestamp()
  );
  comment on table sync.namespace_claims is
    'Temporal namespaces that this warehouse has claimed, those it has lost since included; the other side is the schedule daybook-owner there';
  comment on column sync.namespace_claims.claim_id is 'The claim, as the namespace names it; each take-over makes a new one';
  comment on column sync.namespace_claims.token is
    'What the namespace carries; a worker replaces it on both sides again and again, so that a copy of this database falls behind';
  comment on column sync.namespace_claims.next_token is 'The token that is about to be written to the namespace; null: none';
  comment on column sync.namespace_claims.generation is 'How many tokens there have been, this one included';
  comment on column sync.namespace_claims.claimed_at is 'When it was claimed, by the database clock';
`;
