extension DataAPI.RecordResponse: Decodable where R: Decodable, P: Decodable {
    private enum CodingKeys: CodingKey {
        case data, dataInfo
    }

    /// Decodes the `response` object of an answer, with FMData's decoder or any other.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let data = try container.decode([Record].self, forKey: .data)
        self.init(
            data: data,
            dataInfo: try container.decodeIfPresent(DataAPI.DataInfo.self, forKey: .dataInfo)
                ?? .unreported(count: data.count),
            scriptResponse: try DataAPI.ScriptResponse.ifPresent(in: decoder)
        )
    }
}

extension DataAPI.Record: Decodable where R: Decodable, P: Decodable {
    private enum CodingKeys: CodingKey {
        case fieldData, portalData, recordId, modId, portalDataInfo
    }

    /// Reads a record as servers send it. Ids may be text or numbers.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            fieldData: try container.decode(AsFields<R>.self, forKey: .fieldData).value,
            portalData: try container.decodeIfPresent(AsPortals<P>.self, forKey: .portalData)?.value,
            recordId: try container.decodeWireInteger(forKey: .recordId),
            modId: try container.decodeWireInteger(forKey: .modId),
            portalDataInfo: try container.decodeIfPresent([DataAPI.PortalDataInfo].self, forKey: .portalDataInfo)
        )
    }
}
