import { expect } from 'chai';
import { listImageEvents, writeImageItem } from '../../../../lib/api/dialects/responses/image-item.ts';

describe('an image as an item of a response', () => {
  const place = { replyId: 'abc', index: 2 };
  const item = writeImageItem({ mediaType: 'image/webp', base64: 'QQ==' }, place);

  it('is what a tool for drawing leaves', () => {
    expect(item).to.deep.equal({
      id: 'ig_abc_2',
      type: 'image_generation_call',
      status: 'completed',
      result: 'QQ==',
      output_format: 'webp',
    });
  });

  it('is streamed as one that is drawn at once', () => {
    const at = { output_index: 2, item_id: 'ig_abc_2' };
    expect(listImageEvents(item, place)).to.deep.equal([
      {
        name: 'output_item.added',
        data: { output_index: 2, item: { ...item, status: 'in_progress', result: null } },
      },
      { name: 'image_generation_call.in_progress', data: at },
      { name: 'image_generation_call.generating', data: at },
      { name: 'image_generation_call.completed', data: at },
      { name: 'output_item.done', data: { output_index: 2, item } },
    ]);
  });
});
