import Foundation

/// The names of the files of a recording, in order. Files that are being written have other names.
///
/// - Parameter withLogouts: a database that is released logs out, so that file may be there or not.
func recordedFiles(in folder: URL, withLogouts: Bool = false) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        .filter { $0.first?.isNumber == true && (withLogouts || !$0.contains("logOut")) }
}
