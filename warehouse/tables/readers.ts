import type { DefaultTime } from './database.ts';

export interface ReadersTable {
  reader: string;
  login: string;
  database_name: string;
  created_at: DefaultTime;
  password_set_at: DefaultTime;
}

export interface ReaderConnectionsTable {
  reader: string;
  connection_id: string;
}
