import Bus
import CoreMetrics
import Instruments
import Schemas
import Store

extension CommandRouter {
    /// The commands about the posts of sessions.
    mutating func servePosts(_ study: Study) {
        let changes = study.changes
        let counts = MinuteCounts(now: changes.now)
        on(ListPosts.self) { command, context in
            let person = try context.requirePerson()
            let cursor = try Cursor(after: command.after)
            let (now, rules) = (changes.now(), changes.rules())
            return try await changes.store.snapshot { transaction in
                try transaction.posts(command, after: cursor, for: person, at: now, rules)
            }
        }
        on(AddPost.self) { command, context in
            let person = try context.requirePerson()
            let known = try await changes.store.snapshot { transaction in
                _ = try transaction.require(.post, of: person, in: command.classID)
                return try transaction.repeatedPost(command, by: person)
            }
            // A repetition is no further post.
            if let known { return known.view(showsRemoval: false) }
            do throws(CommandFailure) {
                try counts.count(person, max: changes.rules().postsPerMinute, "posted")
            } catch {
                PostOutcome.limited.count()
                throw error
            }
            do {
                let added = try await changes.make(by: context) { change in try change.add(command, by: person) }
                PostOutcome.added.count()
                return added.view(showsRemoval: false)
            } catch {
                // It was counted before, so that many at once are not more than the limit.
                counts.uncount(person)
                throw error
            }
        }
        on(RemovePost.self) { command, context in
            let person = try context.requirePerson()
            let isRemoved = try await changes.make(by: context) { change in try change.remove(command, by: person) }
            if isRemoved { PostOutcome.removed.count() }
            return Done()
        }
    }
}

/// What came of a post, for the metrics.
private enum PostOutcome: String {
    case added, removed, limited

    func count() { Instrument.studyPosts.counter(["outcome": rawValue]).increment() }
}
