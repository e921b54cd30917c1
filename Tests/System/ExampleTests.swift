import ExampleApp
import MobileApp
import Synchronization
import TestSupport
import Testing

extension SystemTests.OneProduct {
    /// The examples in Swift; Tests/Browser/test_examples.py runs the others.
    @Suite("Examples")
    struct ExampleTests {
        @Test("The example's app shows a message of a subject that its student has joined")
        func app() async throws {
            let portal = try SharedStack.current.portal
            let subject = try await portal.makeSubject("Information", at: "Examples")
            let key = try await portal.accepted(subject.message(title: "For the example", desc: "", message: "text"))
            let shown = Mutex<[String]>([])
            let example = try ExampleApp(hub: "http://127.0.0.1:\(portal.port)", database: nil) { message in
                shown.withLock { $0.append(message.msiKey) }
            }
            let run = Task { await example.run() }
            defer { run.cancel() }
            try await eventually("the app is set up") { try await example.app.isInitialized() }
            try await example.app.subscriptions.subscribe("\(subject.topicKey)")
            example.app.refresh()
            try await eventually("the message is shown") { shown.withLock { $0.contains(key) } }
            #expect(try await example.app.messages.all().first { $0.msiKey == key }?.title == "For the example")
        }
    }
}
