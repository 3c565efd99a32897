// The port of settings.

export interface Setting {
  readonly name: string;
  readonly value: string;
}

/** Values that the service keeps across restarts. */
export interface SettingStore {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  /**
   * Sets a value unless it is another one than `before` by then; undefined: there is none. Resolves to whether the value is
   * now `after`.
   */
  replace(name: string, value: { readonly before: string | undefined; readonly after: string }): Promise<boolean>;
  /** All settings, or those whose names begin so, in order of name. */
  list(prefix?: string): Promise<readonly Setting[]>;
}
