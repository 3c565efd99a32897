// Which models may answer a call with images.
import type { Catalog } from '../../catalog/catalog.ts';
import { notAllowedFault } from '../../catalog/lookup.ts';
import type { TextModel } from '../../catalog/model.ts';
import { allowsModel, type KeyLimits } from '../../money/key-limits.ts';

/**
 * In order of preference: the requested model if it sees, then those of the catalog's list that the key may use, then
 * the rest of the list if the catalog allows that, or further ones that see. Empty if there are none. Throws a 403 fault
 * if the key's limits leave none.
 */
export function listVisionModels(catalog: Catalog, model: TextModel, limits: KeyLimits): readonly TextModel[] {
  const own = model.vision ? [model] : [];
  const listed = catalog.vision.filter((each) => each !== model);
  // The key may use the requested model: that is known by now.
  if (limits.models === null) return [...own, ...listed];
  const isAllowed = (each: TextModel) => each !== model && allowsModel(limits, each);
  const allowed = listed.filter(isAllowed);
  if (catalog.visionBeyondLimits) return [...own, ...allowed, ...listed.filter((each) => !isAllowed(each))];
  const others = allowed.length > 0 ? allowed : findSeeing(catalog).filter(isAllowed);
  if (own.length + others.length === 0 && listed.length > 0) throw notAllowedFault(limits, listed[0]?.id ?? model.id);
  return [...own, ...others];
}

function findSeeing({ models }: Catalog): readonly TextModel[] {
  return models.filter((each) => each.type === 'text').filter(({ vision, routes }) => vision && routes.length > 0);
}
