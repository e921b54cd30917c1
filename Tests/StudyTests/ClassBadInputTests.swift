import Bus
import Schemas
import TestSupport
import Testing

@Suite("Bad input about classes", .timeLimit(.minutes(10)))
struct ClassBadInputTests {
    private static let id = "5a0b0c0d5a0b0c0d5a0b0c0d"
    private static let long = String(repeating: "a", count: 101)
    private static let of = #""class":"\#(id)""#

    private static let requests: [(command: String, payload: String, field: String)] = [
        ("class.add", "{}", "draft"),
        ("class.add", #"{"draft":{"name":"","identification_key":"A"}}"#, "draft.name"),
        ("class.add", #"{"draft":{"name":"\#(long)","identification_key":"A"}}"#, "draft.name"),
        ("class.add", #"{"draft":{"name":"A","identification_key":"A B"}}"#, "draft.identification_key"),
        ("class.add", #"{"draft":{"name":"A"}}"#, "draft.identification_key"),
        ("class.add", #"{"draft":{"name":"A","identification_key":"A","name_days":0}}"#, "draft.name_days"),
        ("class.add", #"{"draft":{"name":"A","identification_key":"A","name_days":3651}}"#, "draft.name_days"),
        ("class.add", #"{"draft":{"name":"A","identification_key":"A","professor":"eve"}}"#, "draft.professor"),
        ("class.add", #"{"draft":{"name":"A","identification_key":"A"},"request_key":""}"#, "request_key"),
        ("class.list", #"{"account":"eve"}"#, "account"),
        ("class.get", #"{"id":"x"}"#, "id"),
        ("class.update", #"{"id":"\#(id)","edit":{"closed":1}}"#, "edit.closed"),
        ("class.update", #"{"id":"\#(id)","edit":{"name":"a\u202eb"}}"#, "edit.name"),
        ("class.join", #"{"key":"","address":"1"}"#, "key"),
        ("class.join", #"{"key":"\#(long)","address":"1"}"#, "key"),
        ("class.join", #"{"key":"secret-key"}"#, "address"),
        ("class.join", #"{"key":7,"address":"1"}"#, "key"),
        ("class.choose", #"{"id":"\#(id)"}"#, "new_sessions"),
        ("class.mates", #"{"id":"\#(id)","limit":201}"#, "limit"),
        ("class.shared", #"{"account":"a b"}"#, "account"),
        ("class.all", #"{"limit":0}"#, "limit"),
        ("class.all", #"{"limit":1,"after":"x"}"#, "after"),
        ("class.give", #"{"id":"\#(id)"}"#, "account"),
        ("class_key.add", #"{\#(of),"draft":{"role":"professor"}}"#, "draft.role"),
        ("class_key.add", #"{\#(of),"draft":{"role":"student","uses":0}}"#, "draft.uses"),
        ("class_key.add", #"{\#(of),"draft":{"role":"student","uses":100001}}"#, "draft.uses"),
        ("class_key.add", #"{\#(of),"draft":{"role":"student","expires":-1}}"#, "draft.expires"),
        ("class_key.replace", #"{\#(of)}"#, "id"),
        ("class_member.list", #"{\#(of),"limit":101}"#, "limit"),
        ("class_member.update", #"{\#(of),"account":"ann","role":"professor"}"#, "role"),
        ("class_member.update", #"{\#(of),"account":"ann","role":"dean"}"#, "role"),
        ("class_member.remove", #"{\#(of),"account":""}"#, "account"),
        ("study.rules", #"{"radius":1}"#, "radius"),
    ]

    @Test("An error names the field, and contains no key; the service stays well")
    func fields() async throws {
        try await RunningStudy.with { study in
            let context = study.person("prof").context
            for (command, payload, field) in Self.requests {
                let failure = try #require(await study.client.failure(of: command, payload, context: context))
                #expect(failure.status == .invalid && failure.field == field, "\(command) \(payload): \(failure)")
                #expect(!failure.message.contains("secret"), "\(failure)")
            }
            #expect(!study.log.has("secret"))
            #expect(try await study.person("prof").request(ListClasses()).classes.isEmpty)
            #expect(try await study.client.request(ReadStudyRules()).radius == 150)
        }
    }

    @Test("Numbers and ids at their edges are taken or refused, and end nothing")
    func edges() async throws {
        try await RunningStudy.with { study in
            let id = try await study.addClass().id
            let prof = study.person("prof")
            let never = ClassKeyDraft(role: .student, uses: 100_000, expires: maximumUnixMilliseconds)
            #expect(try await prof.request(AddClassKey(to: id, never)).expires == maximumUnixMilliseconds)
            let days = try await prof.request(UpdateClass(id, ClassEdit(nameDays: 3_650)))
            #expect(days.nameDays == 3_650)
            let name = String(repeating: "é", count: 100)
            #expect(try await prof.request(UpdateClass(id, ClassEdit(name: name))).name == name)
            for missing in ["000000000000000000000000", "ffffffffffffffffffffffff"].compactMap({ ObjectID($0) }) {
                #expect(await prof.failure(of: GetClass(missing))?.status == .notFound)
                #expect(await prof.failure(of: RemoveClassKey(missing, of: id))?.status == .notFound)
            }
        }
    }
}
