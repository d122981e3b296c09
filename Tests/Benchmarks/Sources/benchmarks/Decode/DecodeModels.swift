import FMData
import Foundation

/// The work for the decoders of `benchmarks decode` and `benchmarks api`: types as a user writes them, and answers of
/// any length.
///
/// Foundation's decoder gets the same types and the same bytes. It does not know FileMaker's values, so the records
/// have only values that it can decode too: dates are `String` for it and ``FMDate`` here (it has the easier task), and
/// no number is empty.
enum DecodeModels {
    /// The twenty fields as a record of a layout.
    struct WideRecord: RecordFields {
        var wide: Wide
        typealias CodingKeys = FieldData.CodingKeys

        init(from decoder: any Decoder) throws { wide = try Wide(from: decoder) }

        func encode(to encoder: any Encoder) throws {
            throw EncodingError.invalidValue(wide, .init(codingPath: [], debugDescription: "It is only read."))
        }
    }

    /// Twenty fields of all kinds.
    struct Wide: Decodable {
        var id: String
        var firstName: String
        var lastName: String
        var company: String
        var street: String
        var city: String
        var country: String
        var email: String
        var phone: String
        var notes: String
        var title: String?
        var age: Int
        var orders: Int
        var balance: Double
        var rate: Double
        var discount: Double?
        var isActive: Int
        var born: FMDate
        var created: FMTimestamp
        var modified: FMTimestamp
    }

    /// The same for Foundation.
    struct PlainWide: Decodable {
        var id: String
        var firstName: String
        var lastName: String
        var company: String
        var street: String
        var city: String
        var country: String
        var email: String
        var phone: String
        var notes: String
        var title: String?
        var age: Int
        var orders: Int
        var balance: Double
        var rate: Double
        var discount: Double?
        var isActive: Int
        var born: String
        var created: String
        var modified: String
    }

    /// The twenty fields, read by position like in generated types.
    struct WideRow: Decodable {
        private static let fields = FieldRow.Names([
            "id", "firstName", "lastName", "company", "street", "city", "country", "email", "phone", "notes", "title",
            "age",
            "orders", "balance", "rate", "discount", "isActive", "born", "created", "modified",
        ])

        var wide: Wide

        init(from decoder: any Decoder) throws {
            let row = try FieldRow.of(decoder, Self.fields)
            wide = Wide(
                id: try row.text(0),
                firstName: try row.text(1),
                lastName: try row.text(2),
                company: try row.text(3),
                street: try row.text(4),
                city: try row.text(5),
                country: try row.text(6),
                email: try row.text(7),
                phone: try row.text(8),
                notes: try row.text(9),
                title: try row.textIfAny(10),
                age: try row.integer(11),
                orders: try row.integer(12),
                balance: try row.double(13),
                rate: try row.double(14),
                discount: try row.doubleIfAny(15),
                isActive: try row.integer(16),
                born: try row.date(17),
                created: try row.timestamp(18),
                modified: try row.timestamp(19)
            )
        }
    }

    struct Narrow: Decodable {
        var id: Int
        var name: String
        var city: String
        var balance: Double
    }

    /// The four fields, read by position.
    struct NarrowRow: Decodable {
        private static let fields = FieldRow.Names(["id", "name", "city", "balance"])

        var narrow: Narrow

        init(from decoder: any Decoder) throws {
            let row = try FieldRow.of(decoder, Self.fields)
            narrow = Narrow(
                id: try row.integer(0),
                name: try row.text(1),
                city: try row.text(2),
                balance: try row.double(3)
            )
        }
    }

    struct Portals: Decodable {
        struct Line: Decodable {
            var recordId: String
            var article: String
            var quantity: Int
            var price: Double
            var modId: String

            enum CodingKeys: String, CodingKey {
                case recordId, modId, article = "Lines::Article", quantity = "Lines::Quantity", price = "Lines::Price"
            }
        }

        var lines: [Line]

        enum CodingKeys: String, CodingKey {
            case lines = "Lines"
        }
    }

    struct NoPortals: Decodable {}

    /// A whole answer, for decoders that do not know the Data API.
    struct Answer<R: Decodable, P: Decodable>: Decodable {
        struct Response: Decodable {
            struct Record: Decodable {
                var fieldData: R
                var portalData: P
                var recordId: String
                var modId: String
            }

            var data: [Record]
        }

        var response: Response
    }
}

/// Answers of any number of records, the same for the same number.
enum DecodeAnswers {
    /// - Parameter unreadableEach: every so many records one has a text as its age; none by default.
    static func wide(_ count: Int, unreadableEach: Int = .max) -> Data {
        answer(count) { number in
            let age = (number + 1).isMultiple(of: unreadableEach) ? #""none""# : "\(20 + number % 60)"
            let notes =
                number % 3 == 0
                ? #"Called on Monday.\rWants \"the usual\" delivered \u2014 see file C:\\orders."#
                : "Regular customer since the opening of the second branch, pays by invoice."
            return """
                "id":"7F3A9B52-\(1000 + number % 9000)-4C1E-9D60","firstName":"\(pick(firstNames, number))",\
                "lastName":"\(pick(lastNames, number))","company":"\(pick(companies, number))",\
                "street":"\(number % 400) Harbour Road","city":"\(pick(cities, number))","country":"\(pick(countries, number))",\
                "email":"person\(number)@example.com","phone":"+1 555 01\(10 + number % 90)","notes":"\(notes)",\
                "title":"\(number % 2 == 0 ? "Dr." : "")","age":\(age),"orders":\(number % 1000),\
                "balance":\(number % 10_000).25,"rate":0.\(1 + number % 98),"discount":\(number % 7).5,\
                "isActive":\(number % 2),"born":"0\(1 + number % 9)/1\(number % 9)/19\(50 + number % 50)",\
                "created":"0\(1 + number % 9)/2\(number % 8)/2021 1\(number % 10):05:\(10 + number % 50)",\
                "modified":"1\(number % 3)/1\(number % 9)/2024 0\(number % 10):41:\(10 + number % 50)"
                """
        }
    }

    static func narrow(_ count: Int) -> Data {
        answer(count) { number in
            """
            "id":\(number),"name":"\(pick(lastNames, number))","city":"\(pick(cities, number))","balance":\(number % 900).75
            """
        }
    }

    static func portals(_ count: Int) -> Data {
        answer(count) { number in
            #""id":\#(number),"name":"\#(pick(lastNames, number))","city":"\#(pick(cities, number))","balance":12.5"#
        } portals: { number in
            let lines = (0..<5).map { line in
                """
                {"recordId":"\(number * 5 + line)","Lines::Article":"\(pick(articles, number + line))",\
                "Lines::Quantity":\(1 + line),"Lines::Price":\(line).95,"modId":"3"}
                """
            }
            return "\"Lines\":[\(lines.joined(separator: ","))]"
        }
    }

    private static func answer(
        _ count: Int,
        fields: (Int) -> String,
        portals: (Int) -> String = { _ in "" }
    ) -> Data {
        var json = Data(
            """
            {"response":{"dataInfo":{"database":"Harbor","layout":"People","table":"People","totalRecordCount":\(count),\
            "foundCount":\(count),"returnedCount":\(count)},"data":[
            """.utf8
        )
        for number in 0..<count {
            if number > 0 { json.append(UInt8(ascii: ",")) }
            json.append(
                contentsOf: "{\"fieldData\":{\(fields(number))},\"portalData\":{\(portals(number))},".utf8
            )
            json.append(contentsOf: "\"recordId\":\"\(number + 1)\",\"modId\":\"\(number % 9)\"}".utf8)
        }
        json.append(contentsOf: "]},\"messages\":[{\"code\":\"0\",\"message\":\"OK\"}]}".utf8)
        return json
    }

    private static let firstNames = ["Ada", "Grace", "Søren", "José", "Mary Ann", "Wei", "Olga", "Zoë"]
    private static let lastNames = [
        "Lovelace", "Hopper", "Kierkegaard", "García Márquez", "O'Neill", "Zhang", "Müller",
    ]
    private static let companies = [
        "Harbor Freight & Sons", "Blå Bjørn A/S", "Acme", "北京科技有限公司", "Smith, Jones and Partners",
    ]
    private static let cities = ["Calgary", "Zürich", "San Francisco", "København", "Paris", "東京"]
    private static let countries = ["Canada", "Switzerland", "United States", "Denmark", "France", "Japan"]
    private static let articles = ["Tea, green", "Coffee", "Crème brûlée", "Bread", "Marmalade \\\"Thick\\\""]

    private static func pick(_ list: [String], _ number: Int) -> String { list[number % list.count] }
}
