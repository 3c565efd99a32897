// The clients of the connect page: what to enter or paste into each, with the base address that it needs. A test holds
// the same settings against docs/clients.md.
import { AGENTS } from './agents.ts';
import { CHATS } from './chats.ts';
import type { Client } from './client.ts';
import { LIBRARIES } from './libraries.ts';

/** Programs with pages of their own come first. */
export const CLIENTS: readonly Client[] = [...CHATS, ...AGENTS, ...LIBRARIES];
