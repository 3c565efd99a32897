// The port of settings.

export interface Setting {
  readonly name: string;
  readonly value: string;
}

/** Values that the service keeps across restarts. */
export interface SettingStore {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  /** All settings, in order of name. */
  list(): Promise<readonly Setting[]>;
}
