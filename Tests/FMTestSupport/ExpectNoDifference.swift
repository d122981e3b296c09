internal import CustomDump

/// CustomDump's `expectNoDifference` for awaited values: the original takes autoclosures, which cannot await.
public func expectNoDifference<Value: Equatable>(
    awaited value: Value,
    _ expected: Value,
    fileID: StaticString = #fileID,
    filePath: StaticString = #filePath,
    line: UInt = #line,
    column: UInt = #column
) {
    expectNoDifference(value, expected, fileID: fileID, filePath: filePath, line: line, column: column)
}
