public import FMDataCore

extension DataAPI.RecordSource {
    /// The same records, each of which may fail to decode on its own; see ``DataAPI/Lenient``.
    public var lenient: DataAPI.FoundSet<DataAPI.Lenient<R>> {
        let found = allRecords
        return found.asked(of: found.layout.layout.of(DataAPI.Lenient<R>.self))
    }
}

extension DataAPI.Record {
    /// The record as its own type, or its id and the reason why it cannot be decoded.
    public func result<Fields: RecordFields>() -> Result<DataAPI.TypedLayout<Fields>.Record, DataAPI.UnreadableRecord>
    where R == DataAPI.Lenient<Fields>, P == DataAPI.Lenient<Fields>.Portals {
        do throws(DecodingFailure) {
            return .success(
                DataAPI.TypedLayout<Fields>.Record(
                    fieldData: try fieldData.result.get(),
                    portalData: try portalData?.result.get(),
                    recordId: recordId,
                    modId: modId,
                    portalDataInfo: portalDataInfo
                )
            )
        } catch {
            return .failure(DataAPI.UnreadableRecord(recordId: recordId, modId: modId, failure: error))
        }
    }
}
