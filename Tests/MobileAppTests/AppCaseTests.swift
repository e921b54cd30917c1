import Base
import Testing

/// The library passes the cases that the web app passes as well.
@Suite("Cases of the app", .timeLimit(.minutes(10)))
struct AppCaseTests {
    @Test("Subscriptions", arguments: AppCase.all(in: "subscriptions.json"))
    func subscriptions(_ story: AppCase) async throws { try await story.play() }

    @Test("Messages", arguments: AppCase.all(in: "messages.json"))
    func messages(_ story: AppCase) async throws { try await story.play() }

    @Test("What FCM did not bring", arguments: AppCase.all(in: "missed.json"))
    func missed(_ story: AppCase) async throws { try await story.play() }

    @Test("Broadcasts", arguments: AppCase.all(in: "broadcasts.json"))
    func broadcasts(_ story: AppCase) async throws { try await story.play() }

    @Test("Receipts", arguments: AppCase.all(in: "receipts.json"))
    func receipts(_ story: AppCase) async throws { try await story.play() }

    @Test("The badge", arguments: AppCase.all(in: "badge.json"))
    func badge(_ story: AppCase) async throws { try await story.play() }

    @Test("Exports", arguments: AppCase.all(in: "export.json"))
    func export(_ story: AppCase) async throws { try await story.play() }

    @Test("The account", arguments: AppCase.all(in: "account.json"))
    func account(_ story: AppCase) async throws { try await story.play() }

    @Test("Study sessions, which only the web app has: no case is for the library", arguments: AppCase.all(in: "study.json"))
    func study(_ story: AppCase) async throws {
        #expect(story.isOfWebApp)
        try await story.play()
    }

    @Test("Every file of cases is played, and no two cases have the same name")
    func files() throws {
        let played = [
            "account", "subscriptions", "messages", "missed", "broadcasts", "receipts", "badge", "export", "study",
        ].map { "\($0).json" }
        #expect(try AppCase.files() == played.sorted())
        let names = played.flatMap { AppCase.all(in: $0) }.map(\.testDescription)
        #expect(Dictionary(grouping: names) { $0 }.filter { $0.value.count > 1 }.isEmpty)
    }

    @Test(
        "A word that the runner does not know fails",
        arguments: [
            #"{"name": "a", "given": {}, "steps": [{"when": "jump"}]}"#,
            #"{"name": "a", "given": {}, "steps": [{"when": "end", "far": true}]}"#,
            #"{"name": "a", "given": {}, "steps": [{"when": "end", "outcome": "odd"}]}"#,
            #"{"name": "a", "given": {}, "steps": [{"when": "end", "then": {"mesages": []}}]}"#,
            #"{"name": "a", "given": {}, "steps": [{"when": "end", "then": {"asked": {"GET /chanel": []}}}]}"#,
            #"{"name": "a", "given": {}, "steps": [{"when": "end", "then": {"library": {"topix": []}}}]}"#,
            #"{"name": "a", "given": {}, "steps": [{"when": "fcm", "away": true}]}"#,
            #"{"name": "a", "given": {"cube": [{"path": "A/B/C", "lvl": ""}]}, "steps": []}"#,
            #"{"name": "a", "given": {"far": true}, "steps": []}"#,
            #"{"name": "a", "given": {}, "steps": [], "more": []}"#,
        ])
    func unknown(json: String) async throws {
        let story = AppCase(testDescription: "a", document: try JSONValue(parsing: json.utf8))
        await #expect(throws: CaseMistake.self) { try await story.play() }
    }

    @Test("What the app does otherwise than the case says fails, with the difference")
    func difference() async throws {
        let json = #"{"name": "a", "given": {"cube": []}, "steps": [{"when": "start", "outcome": "failed"}]}"#
        let story = AppCase(testDescription: "a", document: try JSONValue(parsing: json.utf8))
        await #expect("the outcome") { try await story.play() } throws: { "\($0)".contains("expected: failed, but it was done") }
    }
}
