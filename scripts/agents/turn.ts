// One request of an agent and its scripted answer, whatever the wire format.
import type { PromptBlock, PromptCounts } from '../../testkit/prompt-cache.ts';
import type { AgentCall, AgentTool } from './job.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface Turn {
  /** Blocks for a vendor that caches what is marked, a text for one that caches by itself. */
  readonly prompt: readonly PromptBlock[] | string;
  readonly tools: readonly AgentTool[];
  /** Calls in the history. */
  readonly calls: number;
  /** Whether the model may show its reasoning. */
  readonly thinks: boolean;
  /** Reasoning in the history, complete with what the vendor wants back. */
  readonly thoughtsBack: number;
  readonly isStream: boolean;
}

export interface Answer {
  readonly id: string;
  readonly model: string;
  readonly thought: string | undefined;
  readonly text: string | undefined;
  readonly call: AgentCall | undefined;
  readonly counts: PromptCounts;
  /** Tokens, reasoning included. */
  readonly output: number;
  readonly reasoning: number;
}

/** A wire format. */
export interface Wire {
  readonly path: string;
  read(body: Json): Turn;
  /** The whole answer. */
  write(answer: Answer): Json;
  /** Its server-sent events, a piece of reasoning each. */
  stream(answer: Answer): readonly (Json | string)[];
}

/** The pieces in which reasoning is streamed. */
export function splitThought(thought: string): readonly string[] {
  return thought.split(/(?<= )/);
}

/** What the vendor wants back of the reasoning of an answer. */
export function makeState(id: string): string {
  return Buffer.from(`state of ${id}`).toString('base64');
}

export const STATE = /^c3RhdGUgb2Yg/;

export function readList(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}
