/**
 * The records that travel between stages. Each has one documented layout ({@code XFormat}), a
 * native serializer over it ({@code XSerializer}, through {@link
 * org.draftmill.serializers.RecordTypeInfo}), and one for Kryo over the same bytes.
 */
package org.draftmill.serializers;
