import FoundationEssentials
import Glibc
import Base
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests.OneProduct.SecondProduct {
    /// `msi cube export` and `msi cube import`.
    @Suite("msi cube")
    struct CubeFileTests {
        let stack: Stack

        init() throws {
            stack = try SharedStack.current
        }

        private func cube(_ arguments: [String], status: Int32 = 0) async throws -> [String] {
            let end = try await stack.msi(["cube"] + arguments)
            #expect(end.exitCode == status, "\(end.lines)")
            return end.lines
        }

        private var tree: JSONValue {
            get async throws { try await stack.portal.call(.GET, "/channel").json }
        }

        @Test("A cube of CSV is imported, is exported as it was, and an import of the export changes nothing")
        func roundTrip() async throws {
            try await withTemporaryFolder { folder in
                let file = folder + "/cube.csv"
                let csv = """
                    channel,area,subject,level,distribution,approval,channel_desc,subject_access
                    "Campus, North",Weather,Storms,Forced,Alert,true,"Two
                    lines",
                    "Campus, North",Weather,=Heat,,Information,false,"Two
                    lines",ann ben
                    Empty,,,,,,,

                    """
                try Data(csv.utf8).write(to: URL(filePath: file))
                let before = try await tree
                #expect(
                    try await cube(["import", file, "--dry-run"]).last
                        == "5 added, 2 changed, 0 removed (nothing was changed: --dry-run)")
                #expect(try await tree == before)
                #expect(try await cube(["import", file]).last == "5 added, 2 changed, 0 removed")
                for form in ["json", "csv"] {
                    let export = folder + "/export.\(form)"
                    _ = try await cube(["export", export])
                    #expect(try await cube(["import", export, "--remove-others"]) == ["nothing changes"])
                }
                let kept = try await cube(["export", file], status: 65)
                #expect(kept.contains { $0.contains("exists already") && $0.contains("--replace") }, "\(kept)")
                #expect(try String(contentsOfFile: file, encoding: .utf8) == csv)
                _ = try await cube(["export", file, "--replace"])
                #expect(try await cube(["import", file, "--remove-others"]) == ["nothing changes"])
                let link = folder + "/link.csv"
                #expect(symlink(file, link) == 0)
                _ = try await cube(["export", link, "--replace"])
                #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == file)
                #expect(try await cube(["export", "/dev/stdout"]).first == "[")
                let channels = try await tree.array
                let campus = try #require(channels.first { $0["name"] == "Campus, North" })
                #expect(campus["desc"] == "Two\nlines")
                let subjects = try #require(campus["areas"]?.array.first?["subjects"]?.array)
                #expect(subjects.map { $0["name"] } == ["Storms", "=Heat"])
                #expect(subjects.map { $0["approval"] } == [true, nil])
                #expect(subjects.map { $0["access"] } == [[], ["ann", "ben"]])
                #expect(try #require(channels.first { $0["name"] == "Empty" })["areas"] == [])
            }
        }

        @Test("A file can rename and remove, and says each change in JSON")
        func edits() async throws {
            try await withTemporaryFolder { folder in
                let file = folder + "/cube.json"
                _ = try await stack.portal.makeSubject("Alert")
                let other = try await stack.portal.makeSubject("Alert")
                _ = try await cube(["export", file])
                let text = try String(contentsOfFile: file, encoding: .utf8)
                let channels = try JSONCoder.decode([JSONValue].self, from: Data(text.utf8))
                let wanted = try channels.filter { $0["_id"]?.string != other.channel }.map { channel in
                    var channel = channel
                    channel["name"] = "renamed \(try #require(channel["_id"]?.string))"
                    return channel
                }
                try JSONCoder.encode(wanted).write(to: URL(filePath: file))
                let lines = try await cube(["import", file, "--remove-others", "--json"])
                let edits = try lines.map { try JSONCoder.decode(JSONValue.self, from: Data($0.utf8)) }
                #expect(edits.count == channels.count)
                #expect(edits.last?["action"] == "remove" && edits.last?["kind"] == "channel")
                #expect(edits.dropLast().allSatisfy { $0["action"] == "change" && $0["changes"]?["name"]?["after"] != nil })
                #expect(try await tree.array.map { $0["name"] } == wanted.map { $0["name"] })
            }
        }

        @Test("A wrong file changes nothing, and the error names the file and the line")
        func wrong() async throws {
            try await withTemporaryFolder { folder in
                let before = try await tree
                let file = folder + "/cube.csv"
                try Data("channel,area,subject,distribution\nA,B,C,Alert\nA,B,D,Loud\n".utf8).write(to: URL(filePath: file))
                let lines = try await cube(["import", file], status: 65)
                #expect(
                    lines.contains { $0.contains("cube.csv: line 3: distribution: expected one of Alert, Information") },
                    "\(lines)")
                let missing = try await cube(["import", folder + "/none.csv"], status: 65)
                #expect(missing.contains { $0.contains("none.csv: it cannot be read: No such file") }, "\(missing)")
                #expect(try await tree == before)
            }
        }
    }
}
