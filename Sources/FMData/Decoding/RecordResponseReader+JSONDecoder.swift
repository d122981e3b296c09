import Foundation

extension RecordResponseReader {
    /// A reader that cuts the answer into records itself and has each of them decoded by a `JSONDecoder` of the user's.
    init(decoder: JSONDecoder, options: DecodingOptions = DecodingOptions()) {
        self.init(options: options) { json in
            try decoder.decode(Record.self, from: Data(json))
        }
    }
}
