extension FMDecoder {
    /// Decodes a whole answer with records and its envelope, such as one that was saved to a file.
    ///
    ///     let people = try FMDecoder().decodeAnswer(DataAPI.RecordResponse<Person, EmptyPortal>.self, from: body)
    ///
    /// Apart from the result, this needs the memory of one record only.
    ///
    /// - Throws: ``DecodingFailure``, also for an answer with an error code.
    public func decodeAnswer<R: Decodable, P: Decodable>(
        _ type: DataAPI.RecordResponse<R, P>.Type,
        from body: some Collection<UInt8>
    ) throws(DecodingFailure) -> DataAPI.RecordResponse<R, P> {
        let read = { (bytes: UnsafeBufferPointer<UInt8>) in
            Result { () throws(DecodingFailure) in try answer(type, UnsafeRawBufferPointer(bytes)) }
        }
        return try (body.withContiguousStorageIfAvailable(read) ?? Array(body).withUnsafeBufferPointer(read)).get()
    }

    private func answer<R: Decodable, P: Decodable>(
        _ type: DataAPI.RecordResponse<R, P>.Type,
        _ body: UnsafeRawBufferPointer
    ) throws(DecodingFailure) -> DataAPI.RecordResponse<R, P> {
        var reader = RecordResponseReader<R, P>(context: contexts.take())
        var data: [DataAPI.Record<R, P>] = []
        var rest = body[...]
        while !rest.isEmpty {
            reader.feed(UnsafeRawBufferPointer(rebasing: rest.prefix(Self.chunk)))
            rest = rest.dropFirst(Self.chunk)
            try reader.nextRecords(appendTo: &data)
            if let count = reader.dataInfo?.returnedCount, count > data.count {
                // The server's count may be wrong, so memory is reserved for no more records than fit into the body.
                data.reserveCapacity(min(count, body.count / Self.smallestRecord))
            }
        }
        let envelope = try reader.finish()
        if let refusal = envelope.messages.first(where: { !$0.isSuccess }) {
            throw DecodingFailure(refusal: refusal.code)
        }
        contexts.give((consume reader).retire())
        return DataAPI.RecordResponse(data: data, dataInfo: envelope.dataInfo, scriptResponse: envelope.scriptResponse)
    }

    /// The size of the shortest record in bytes: `{"fieldData":{},"recordId":1,"modId":1}`.
    private static let smallestRecord = 38

    /// The number of bytes read at a time: few enough to stay in the processor's cache.
    private static let chunk = 65_536
}
