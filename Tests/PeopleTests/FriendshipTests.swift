import Testing

@testable import People

/// The pure rules of what two persons are to each other.
@Suite("Friendships")
struct FriendshipTests {
    /// For each pair of states, mine and theirs: what becomes of it by `ask`, `accept`, `decline`, `remove`, `block` and `unblock`. A state
    /// is its first letter, or `-` for none; `x` is a refusal; `!` tells the other one of a request, `+` of a friendship.
    private static let table = """
        --  ar!  x    x    --   b-   --
        -a  ff+  x    x    -a   b-   -a
        -r  ar!  x    x    -r   b-   -r
        -f  ar!  x    x    -f   b-   -f
        -d  ad   x    x    -d   bd   -d
        -b  x    x    x    -b   x    -b
        a-  ar!  x    x    --   b-   a-
        aa  ff+  x    x    -a   b-   aa
        ar  ar   x    x    --   b-   ar
        af  ar!  x    x    -f   b-   af
        ad  ad   x    x    -d   bd   ad
        ab  x    x    x    -b   x    ab
        r-  ff+  x    d-   r-   b-   r-
        ra  ff+  ff+  da   ra   b-   ra
        rr  ff+  x    dr   rr   b-   rr
        rf  ff+  x    df   rf   b-   rf
        rd  ff+  x    dd   rd   bd   rd
        rb  x    x    x    rb   x    rb
        f-  ar!  x    x    --   b-   f-
        fa  ff+  x    x    -a   b-   fa
        fr  ar!  x    x    -r   b-   fr
        ff  ff   ff   x    --   b-   ff
        fd  ad   x    x    -d   bd   fd
        fb  x    x    x    -b   x    fb
        d-  ar!  x    d-   d-   b-   d-
        da  ff+  x    da   da   b-   da
        dr  ar!  x    dr   dr   b-   dr
        df  ar!  x    df   df   b-   df
        dd  ad   x    dd   dd   bd   dd
        db  x    x    x    db   x    db
        b-  x    x    x    b-   b-   --
        ba  x    x    x    ba   ba   -a
        br  x    x    x    br   br   -r
        bf  x    x    x    bf   bf   -f
        bd  x    x    x    bd   bd   -d
        bb  x    x    x    bb   bb   -b
        """

    private static let rows: [Substring: [Substring]] = Dictionary(
        uniqueKeysWithValues: table.split(separator: "\n").map { row in
            let cells = row.split(separator: " ")
            return (cells[0], Array(cells.dropFirst()))
        })

    private static let states: [Friendship.State?] = [nil] + Friendship.State.allCases.map(Optional.some)

    private static func text(_ friendship: Friendship) -> Substring {
        [friendship.mine, friendship.theirs].map { $0.map { String($0.rawValue.prefix(1)) } ?? "-" }.joined()[...]
    }

    private static func text(_ outcome: Friendship.Outcome?) -> Substring {
        guard let outcome else { return "x" }
        let notice =
            switch outcome.notice {
            case .asked: "!"
            case .accepted: "+"
            case nil: ""
            }
        return text(outcome.after) + notice
    }

    @Test("Each action on each pair of states has the outcome of the table")
    func outcomes() throws {
        #expect(Self.rows.count == Self.states.count * Self.states.count)
        for mine in Self.states {
            for theirs in Self.states {
                let friendship = Friendship(mine: mine, theirs: theirs)
                let row = try #require(Self.rows[Self.text(friendship)])
                #expect(Friendship.Action.allCases.map { Self.text(friendship.after($0)) } == row, "\(friendship)")
            }
        }
    }

    @Test("From nothing, whatever both do and whenever a decline is forgotten, only pairs that fit together are reached")
    func reachable() {
        var reached: Set<Friendship> = [Friendship()]
        var new = reached
        while !new.isEmpty {
            let next = new.flatMap { friendship in
                let seenByOther = Friendship(mine: friendship.theirs, theirs: friendship.mine)
                var forgotten = friendship
                if forgotten.mine == .declined { forgotten.mine = nil }
                return [seenByOther, forgotten] + Friendship.Action.allCases.compactMap { friendship.after($0)?.after }
            }
            new = Set(next).subtracting(reached)
            reached.formUnion(new)
        }
        #expect(
            Set(reached.map(Self.text)) == [
                "--", "ar", "ra", "ff", "a-", "-a", "ad", "da", "d-", "-d", "b-", "-b", "bd", "db",
            ])
        for friendship in reached {
            for action in Friendship.Action.allCases {
                guard let after = friendship.after(action)?.after else { continue }
                #expect(after.after(action) == Friendship.Outcome(after: after), "\(action) twice on \(friendship)")
            }
        }
    }
}
