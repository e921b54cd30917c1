import Base
import DeviceTokens
import FoundationEssentials
import Schemas
import ServiceLifecycle
import TestSupport
import Testing

@testable import Gateway

/// The file with the ends of devices.
@Suite("Kept ends of devices", .timeLimit(.minutes(10)))
struct KeptEndsTests {
    private let signer = TokenSigner()

    private func text(in folder: String) -> String? {
        FileManager.default.contents(atPath: "\(folder)/\(KeptEndsFile.name)").map { String(decoding: $0, as: UTF8.self) }
    }

    private func write(_ text: String, in folder: String) throws {
        try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(KeptEndsFile.name)"))
    }

    private func ends(_ count: Int, from number: Int64 = 1) -> [EndedTokens] {
        (0..<Int64(count)).map { EndedTokens(number: number + $0, at: .now, device: ObjectID()) }
    }

    @Test("What is written and added is read again, and the file is its owner's alone")
    func roundTrip() async throws {
        try await withTemporaryFolder { folder in
            let file = KeptEndsFile(in: folder)
            #expect(try file.read() == nil)
            let (first, second) = (ends(2), ends(2, from: 3))
            try file.replace(by: KeptEnds(applied: 2, keys: [signer.announced], ended: first))
            try file.append(second)
            #expect(try file.read() == KeptEnds(applied: 4, keys: [signer.announced], ended: first + second))
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test("A last line that was being written is left out; damage elsewhere, and another form, are errors")
    func damage() async throws {
        try await withTemporaryFolder { folder in
            let file = KeptEndsFile(in: folder)
            let kept = KeptEnds(applied: 2, keys: [signer.announced], ended: ends(2))
            try file.replace(by: kept)
            let whole = try #require(text(in: folder))
            try write(whole + #"{"at":179526"#, in: folder)
            #expect(try file.read() == kept)
            try write(whole + "\0\0\0\0", in: folder)
            #expect(try file.read() == kept)
            let lines = whole.split(separator: "\n")
            for damaged in [
                "", "\n", "{}\n", "\(lines[0])\nnonsense\n\(lines[2])\n", lines.dropFirst().joined(separator: "\n"),
                whole.replacing(#""format":1"#, with: #""format":2"#),
            ] {
                try write(damaged, in: folder)
                #expect(throws: (any Error).self, "\(damaged)") { try file.read() }
            }
        }
    }

    @Test("Ends are added to the file, and with other keys it is replaced; a process that starts knows them")
    func service() async throws {
        try await withTemporaryFolder { folder in
            let people = PeopleDouble(signer)
            let device = ObjectID()
            let ended = try signer.token("ann", device)
            try await people.run(in: folder) {
                try await DeviceAccess.running(in: folder, keptIn: folder) { devices in
                    try await eventually("the first file") { text(in: folder)?.contains(signer.id) == true }
                    people.end(device)
                    try await eventually("the end") { text(in: folder)?.contains("\(device)") == true }
                    #expect(text(in: folder)?.split(separator: "\n").count == 2)
                    let other = TokenSigner("k2")
                    people.use([signer, other])
                    try await eventually("the other key") { text(in: folder)?.contains(other.announced.key) == true }
                    let own = ObjectID()
                    await devices.end(device: own)
                    #expect(text(in: folder)?.contains("\(own)") == true)
                }
            }
            // The people service is away.
            try await DeviceAccess.running(in: folder, keptIn: folder) { devices in
                #expect(devices.checkNow(ended, ended.credentialHash).refusal == .ended)
                let other = try signer.token()
                #expect(devices.checkNow(other, other.credentialHash).caller?.account == .sample("ann"))
            }
        }
    }

    @Test("A damaged file is set aside, and the ends are asked for again")
    func setAside() async throws {
        try await withTemporaryFolder { folder in
            let people = PeopleDouble(signer)
            let device = ObjectID()
            people.end(device)
            try write("nonsense\n", in: folder)
            let log = RecordedLog()
            try await people.run(in: folder) {
                try await DeviceAccess.running(in: folder, keptIn: folder, log: log) { _ in
                    try await eventually("the file") { text(in: folder)?.contains("\(device)") == true }
                }
            }
            #expect(FileManager.default.fileExists(atPath: "\(folder)/\(KeptEndsFile.name).damaged"))
            #expect(log.louderThanDebug.count == 1, "\(log.louderThanDebug)")
        }
    }

    @Test("The file is replaced by one without old ends when it has doubled")
    func doubled() async throws {
        try await withTemporaryFolder { folder in
            let people = PeopleDouble(signer)
            try await people.run(in: folder) {
                try await DeviceAccess.running(in: folder, keptIn: folder) { devices in
                    try await eventually("the first file") { text(in: folder) != nil }
                    let at = UnixMilliseconds.ago(.seconds(13 * 3_600))
                    for _ in 0..<1_001 { people.end(ObjectID(), at: at) }
                    let last = ObjectID()
                    people.end(last)
                    try await eventually("one line beside the keys") {
                        text(in: folder)?.split(separator: "\n").count == 2 && text(in: folder)?.contains("\(last)") == true
                    }
                }
            }
        }
    }
}

extension DeviceAccess.Check {
    var caller: PersonCaller? { if case .caller(let person) = self { person } else { nil } }
    var refusal: DeviceTokenRefusal? { if case .refused(let refusal) = self { refusal } else { nil } }
}
