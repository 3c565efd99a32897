// What another gateway's store holds, in the same words for each of the programs.
import type { Decimal, Exchange } from './amounts.ts';

/** The programs whose stores can be read. */
export const PROGRAMS = ['new-api', 'one-api', 'one-hub'] as const;
export type Program = (typeof PROGRAMS)[number];

export interface SourceUser {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  /** What remains. */
  readonly quota: bigint;
  readonly used: bigint;
  readonly isActive: boolean;
  readonly isAdministrator: boolean;
  readonly group: string;
  /** ms since the epoch; undefined: the store does not say. */
  readonly createdAt: number | undefined;
}

export interface SourceKey {
  readonly id: string;
  readonly user: string;
  readonly name: string;
  /** Without `sk-`. */
  readonly secret: string;
  readonly isActive: boolean;
  /** ms since the epoch. */
  readonly expiresAt: number | null;
  /** The quota that it may still spend; null: as much as its user. */
  readonly budget: bigint | null;
  /** Null: all. */
  readonly models: readonly string[] | null;
  readonly addresses: readonly string[] | null;
  readonly createdAt: number | undefined;
}

export interface SourceChannel {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly keys: readonly string[];
  /** Empty: that of its type. */
  readonly baseUrl: string;
  readonly models: readonly string[];
  /** The vendor's name of a model, where it differs. */
  readonly mapping: ReadonlyMap<string, string>;
  readonly isActive: boolean;
  readonly priority: bigint;
  readonly weight: bigint;
}

/** The quota of a token by kind, as far as the store says; or dollars a call. */
export type SourcePrice =
  | {
      readonly per: 'token';
      readonly input: Decimal;
      readonly output: Decimal | undefined;
      readonly audio?: Decimal | undefined;
      readonly cacheRead?: Decimal | undefined;
      readonly cacheWrite?: Decimal | undefined;
    }
  | { readonly per: 'call'; readonly dollars: Decimal };

/** Something that does not come over. */
export interface LeftOut {
  readonly what: string;
  readonly count: number;
  readonly why: string;
}

export interface Source {
  readonly program: Program;
  readonly exchange: Exchange;
  readonly users: readonly SourceUser[];
  readonly keys: readonly SourceKey[];
  readonly channels: readonly SourceChannel[];
  /** What the prices of a group of users are multiplied by. */
  readonly groups: ReadonlyMap<string, Decimal>;
  /** `type` is that of a channel, for which some stores have other prices. */
  readonly findPrice: (model: string, type: string) => SourcePrice | undefined;
  readonly leftOut: readonly LeftOut[];
}
