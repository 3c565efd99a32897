// The port of settings.

export interface Setting {
  readonly name: string;
  readonly value: string;
}

/** Facts that the service remembers across restarts. */
export interface SettingStore {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  /** All of them, in order of name. */
  list(): Promise<readonly Setting[]>;
}
