extension DataAPI.Layout: LayoutAddress {
    var databaseName: String { database.name }
    var apiRoot: String { database.server.apiRoot }
    var dateFormats: String? { database.server.config.dateFormats.wireValue }

    var encoder: FMEncoder {
        FMEncoder(options: database.server.encoding, recordEncoder: database.server.config.encoder)
    }
}
