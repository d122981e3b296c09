public import Foundation

/// Makes a folder for a test, and deletes it when the body returns or throws.
public func withTemporaryFolder<Result>(_ body: (_ folder: URL) async throws -> Result) async throws -> Result {
    let folder = try makeTemporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
}

/// Makes a folder for a test that does not wait, and deletes it when the body returns or throws.
public func withTemporaryFolder<Result>(_ body: (_ folder: URL) throws -> Result) throws -> Result {
    let folder = try makeTemporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
}

/// Makes a file for a test, and deletes it with its folder when the body returns or throws.
public func withTemporaryFile<Result>(
    _ content: Data,
    named name: String = "file",
    _ body: (_ path: String) async throws -> Result
) async throws -> Result {
    try await withTemporaryFolder { folder in
        let file = folder.appendingPathComponent(name)
        try content.write(to: file)
        return try await body(file.path)
    }
}

/// Makes a file for a test that does not wait, and deletes it with its folder when the body returns or throws.
public func withTemporaryFile<Result>(
    _ content: Data,
    named name: String = "file",
    _ body: (_ path: String) throws -> Result
) throws -> Result {
    try withTemporaryFolder { folder in
        let file = folder.appendingPathComponent(name)
        try content.write(to: file)
        return try body(file.path)
    }
}

private func makeTemporaryFolder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("FMDataTests-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
}
