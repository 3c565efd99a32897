// An image of an answer as an item of a response: what a vendor's own tool for drawing leaves there.
import type { CollectedImage } from '../../../stream/collect.ts';
import type { OutputItem } from './response.ts';

type ItemPlace = Pick<OutputItem, 'replyId' | 'index'>;

interface ImageItem {
  readonly id: string;
  readonly type: 'image_generation_call';
  readonly status: 'completed';
  /** The base64. */
  readonly result: string;
  /** `png`. */
  readonly output_format: string;
}

export function writeImageItem(
  { mediaType, base64 }: Pick<CollectedImage, 'mediaType' | 'base64'>,
  { replyId, index }: ItemPlace,
): ImageItem {
  return {
    id: `ig_${replyId}_${index}`,
    type: 'image_generation_call',
    status: 'completed',
    result: base64,
    output_format: mediaType.slice('image/'.length),
  };
}

interface ItemEvent {
  /** Without its prefix. */
  readonly name: string;
  readonly data: object;
}

/** The events of one whole item: it has no fragments. */
export function listImageEvents(item: ImageItem, { index }: ItemPlace): readonly ItemEvent[] {
  const place = { output_index: index, item_id: item.id };
  return [
    {
      name: 'output_item.added',
      data: { output_index: index, item: { ...item, status: 'in_progress', result: null } },
    },
    { name: 'image_generation_call.in_progress', data: place },
    { name: 'image_generation_call.generating', data: place },
    { name: 'image_generation_call.completed', data: place },
    { name: 'output_item.done', data: { output_index: index, item } },
  ];
}
