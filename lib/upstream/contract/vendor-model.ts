// The part of the contract about what a vendor offers: types only.

/** A model that a vendor lists. */
export interface VendorModel {
  /** What `call.model` would be. */
  readonly id: string;
}
