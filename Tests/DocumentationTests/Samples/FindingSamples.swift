import FMData
import OpenCombine

// The samples of Finding.md. What a sample takes for granted is declared around it.

private func finding(layout: DataAPI.Layout) async throws {
    let query = FindQuery(
        query: [
            ["City": "==Calgary", "Number": ">=1000"], ["City": "==Kiel"],
            ["City": "==Kiel", "Number": "<10", "omit": "true"],
        ],
        sort: [SortQuery(fieldName: "Number", sortOrder: .descend)],
        limit: 25
    )
    let find = Find(Order.CodingKeys.self) { field in
        (field(.city) == "Calgary" || field(.city).begins(with: "Ki")) && field(.number) >= 1000
            && !(field(.city) == "Kingston")
    }
    let orders = try await layout.findRecords(query: FindQuery(find, limit: 25)).returnAs(Order.self).firstValue()
    _ = orders
    for try await record in layout.records(Order.self, findQuery: query).values {
        print(record.recordId, record.fieldData.number)
    }
}
